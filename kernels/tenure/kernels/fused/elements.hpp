// SPDX-License-Identifier: BSL-1.0
// The instructions of a pass, for one packet: all loads, then its lanes one after the other, then all stores.
#pragma once

#include <tenure/kernels/fused/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
template <int Pass>
TENURE_KERNEL_INLINE void fused<Code>::elements(const arguments& args, thread_state& t, const place& p) {
  packet_state e;
  [&]<int... I>(std::integer_sequence<int, I...>) { (read<I>(args, p, e), ...); }(those<part::loads, Pass>{});
  [&]<int... L>(std::integer_sequence<int, L...>) { (lane(t, p, e, L, those<part::computes, Pass>{}), ...); }(std::make_integer_sequence<int, lanes>{});
  [&]<int... I>(std::integer_sequence<int, I...>) { (write<I>(args, t, p, e), ...); }(those<part::stores, Pass>{});
}

template <class Code>
template <int... I>
TENURE_KERNEL_INLINE void fused<Code>::lane(thread_state& t, const place& p, packet_state& e, [[maybe_unused]] int l, std::integer_sequence<int, I...>) {
  if constexpr (sizeof...(I) <= 128) {
    (element<I>(t, p, e, l), ...);
  } else {  // clang refuses folds of more than 256 operands
    constexpr int half = static_cast<int>(sizeof...(I)) / 2, rest = static_cast<int>(sizeof...(I)) - half;
    lane(t, p, e, l, some<0, I...>(std::make_integer_sequence<int, half>{}));
    lane(t, p, e, l, some<half, I...>(std::make_integer_sequence<int, rest>{}));
  }
}

template <class Code>
template <int I>
TENURE_KERNEL_INLINE void fused<Code>::read(const arguments& args, const place& p, packet_state& e) {
  constexpr auto x = at(I);
  if constexpr (keeps(I)) {
    const run_of_lanes kept = run_at(args, p.scratch, kept_before(I));
    for (int l = 0; l < lanes; ++l) e.value[I][l] = kept.at[l];
  } else {
    constexpr auto a = k.access[x.access];
    const std::int64_t step = stride<x.access, last>(args);
    if constexpr (a.counting) {
      const std::int64_t first = position_at<x.access>(args, p.offset);
      for (int l = 0; l < lanes; ++l) e.value[I][l] = static_cast<T>(first + l * step);
    } else {
      using from = element_of_t<a.type>;
      const from* const source = static_cast<const from*>(args.pointer[x.access]) + p.offset[x.access];
      if constexpr (!x.is_mask && is_run<x.access>)
        if (step == 1 && is_whole(source, p.count)) {
          const run_of_lanes run = *reinterpret_cast<const run_of_lanes*>(source);
          for (int l = 0; l < lanes; ++l) e.value[I][l] = run.at[l];
          return;
        }
      for (int l = 0; l < lanes; ++l) {
        const from v = lanes == 1 || l < p.count ? source[l * step] : from(0);
        if constexpr (x.is_mask) e.mask[I][l] = v != from(0);
        else e.value[I][l] = number::convert<T>(v);
      }
    }
  }
}

template <class Code>
template <int Slot>
TENURE_KERNEL_INLINE auto fused<Code>::operand(const thread_state& t, const packet_state& e, int l) {
  if constexpr (Slot < 0) return none{};
  else if constexpr (at(Slot).row) return row_operand<Slot>(t);
  else if constexpr (at(Slot).is_mask) return e.mask[Slot][l];
  else return e.value[Slot][l];
}

template <class Code>
template <int I>
TENURE_KERNEL_INLINE void fused<Code>::element(thread_state& t, const place& p, packet_state& e, int l) {
  constexpr auto x = at(I);
  if constexpr (x.what == kind::compute) {
    const auto value = computed<x.op, x.is_mask>(operand<x.in[0]>(t, e, l), operand<x.in[1]>(t, e, l), operand<x.in[2]>(t, e, l));
    if constexpr (x.is_mask) e.mask[I][l] = value;
    else e.value[I][l] = value;
  } else if constexpr (x.what == kind::reduce_row) {
    if (lanes == 1 || l < p.count) t.sum[I] = combined<x.bits>(t.sum[I], operand<x.in[0]>(t, e, l));
  } else if constexpr (x.what == kind::reduce_all) {
    if (lanes == 1 || l < p.count) t.total[I] = combined<x.bits>(t.total[I], operand<x.in[0]>(t, e, l));
  }
}

template <class Code>
template <int I>
TENURE_KERNEL_INLINE void fused<Code>::write(const arguments& args, const thread_state& t, const place& p, const packet_state& e) {
  constexpr auto x = at(I);
  if constexpr (keeps(I)) {
    run_of_lanes kept;
    for (int l = 0; l < lanes; ++l) kept.at[l] = e.value[I][l];
    run_at(args, p.scratch, kept_before(I)) = kept;
  } else if constexpr (x.what == kind::reduce_columns) {
    run_of_lanes mine;
    for (int l = 0; l < lanes; ++l) mine.at[l] = operand<x.in[0]>(t, e, l);
    add_run<x.bits>(run_at(args, p.scratch, kept_rows + rank_of(I)), mine);
  } else {
    const std::int64_t step = stride<x.access, last>(args);
    using to = element_of_t<k.access[x.access].type>;
    to* const target = static_cast<to*>(args.pointer[x.access]) + p.offset[x.access];
    if constexpr (!x.is_mask && is_run<x.access>)
      if (step == 1 && is_whole(target, p.count)) {
        run_of_lanes run;
        for (int l = 0; l < lanes; ++l) run.at[l] = operand<x.in[0]>(t, e, l);
        *reinterpret_cast<run_of_lanes*>(target) = run;
        return;
      }
    for (int l = 0; l < lanes; ++l)
      if (lanes == 1 || l < p.count) target[l * step] = number::convert<to>(operand<x.in[0]>(t, e, l));
  }
}

/// The result of a compute instruction for one element.
template <class Code>
template <ir::opcode Op, bool IsMask, class A, class B, class C>
TENURE_KERNEL_INLINE auto fused<Code>::computed(A a, [[maybe_unused]] B b, [[maybe_unused]] C c) {
  if constexpr (ops::is_pointwise(Op)) {
    using operation = ops::operation_of<Op>;
    if constexpr (operation::arity == 1) return operation::evaluate(a);
    else if constexpr (operation::arity == 2) return operation::evaluate(a, b);
    else return operation::evaluate(a, b, c);
  } else if constexpr (IsMask == std::is_same_v<A, bool>) {  // cast and copy: the load has already converted numbers
    return a;
  } else if constexpr (IsMask) {
    return a != T(0);
  } else {
    return a ? T(1) : T(0);
  }
}

}  // namespace tenure::kernels
