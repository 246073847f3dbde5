// SPDX-License-Identifier: BSL-1.0
// The instructions that have one value for each row.
#pragma once

#include <tenure/backend/cpu/fused/kernel.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
template <int Phase, int... I>
TENURE_LAYER void fused<Code>::row_phase(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...>) {
  (row_instruction<Phase, I>(args, p, r, total), ...);
}

template <class Code>
template <int Slot>
TENURE_LAYER auto fused<Code>::read_row(const row_state& r) {
  if constexpr (at(Slot).is_mask) return r.mask[Slot];
  else return r.value[Slot];
}

template <class Code>
template <int Phase, int I>
TENURE_LAYER void fused<Code>::row_instruction(const local_arguments& args, const position& p, row_state& r, sums& total) {
  constexpr auto x = at(I);
  if constexpr (x.what == kind::constant) {
    if constexpr (x.is_mask) r.mask[I] = x.bits != 0;
    else if constexpr (std::is_floating_point_v<T>) r.value[I] = static_cast<T>(std::bit_cast<double>(x.bits));
    else r.value[I] = static_cast<T>(x.bits);
  } else if constexpr (x.what == kind::load) {
    if constexpr (k.access[x.access].counting) {
      r.value[I] = static_cast<T>(position_at<x.access>(args, p));
    } else {
      using from = element_of_t<k.access[x.access].type>;
      const from v = static_cast<const from*>(args.pointer[x.access])[p.offset[x.access]];
      if constexpr (x.is_mask) r.mask[I] = v != from(0);
      else r.value[I] = number::convert<T>(v);
    }
  } else if constexpr (x.what == kind::compute) {
    if constexpr (x.is_mask) r.mask[I] = compute_row<I>(r);
    else r.value[I] = compute_row<I>(r);
  } else if constexpr (x.what == kind::store) {
    using to = element_of_t<k.access[x.access].type>;
    to* target = static_cast<to*>(args.pointer[x.access]) + p.offset[x.access];
    *target = number::convert<to>(read_row<x.in[0]>(r));
  } else {
    total.scalar[I] = combine<x.bits>(total.scalar[I], r.value[x.in[0]]);
  }
}

template <class Code>
template <int I>
TENURE_LAYER auto fused<Code>::compute_row(const row_state& r) {
  constexpr auto x = at(I);
  if constexpr (!ops::is_pointwise(x.op)) {
    if constexpr (x.is_mask && !at(x.in[0]).is_mask) return r.value[x.in[0]] != T(0);
    else if constexpr (!x.is_mask && at(x.in[0]).is_mask) return r.mask[x.in[0]] ? T(1) : T(0);
    else return read_row<x.in[0]>(r);
  } else {
    using operation = ops::operation_of<x.op>;
    if constexpr (operation::arity == 1) return operation::evaluate(read_row<x.in[0]>(r));
    else if constexpr (operation::arity == 2) return operation::evaluate(read_row<x.in[0]>(r), read_row<x.in[1]>(r));
    else return operation::evaluate(read_row<x.in[0]>(r), read_row<x.in[1]>(r), read_row<x.in[2]>(r));
  }
}

}  // namespace tenure::cpu_backend

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
