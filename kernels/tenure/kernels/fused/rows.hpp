// SPDX-License-Identifier: BSL-1.0
// The instructions that have one value for each row.
#pragma once

#include <tenure/kernels/fused/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
template <int... I>
TENURE_KERNEL_INLINE void fused<Code>::row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>) {
  (row_instruction<I>(args, t, is_first), ...);
}

template <class Code>
template <int Slot>
TENURE_KERNEL_INLINE auto fused<Code>::row_operand(const thread_state& t) {
  if constexpr (Slot < 0) return none{};
  else if constexpr (at(Slot).is_mask) return t.mask[Slot];
  else return t.value[Slot];
}

template <class Code>
template <int I>
TENURE_KERNEL_INLINE void fused<Code>::row_instruction(const arguments& args, thread_state& t, bool is_first) {
  constexpr auto x = at(I);
  if constexpr (x.what == kind::constant) {
    if constexpr (x.is_mask) t.mask[I] = x.bits != 0;
    else if constexpr (std::is_floating_point_v<T>) t.value[I] = static_cast<T>(std::bit_cast<double>(x.bits));
    else t.value[I] = static_cast<T>(x.bits);
  } else if constexpr (x.what == kind::load) {
    if constexpr (k.access[x.access].counting) {
      t.value[I] = static_cast<T>(position_at<x.access>(args, t.offset));
    } else {
      using from = element_of_t<k.access[x.access].type>;
      const from v = static_cast<const from*>(args.pointer[x.access])[t.offset[x.access]];
      if constexpr (x.is_mask) t.mask[I] = v != from(0);
      else t.value[I] = number::convert<T>(v);
    }
  } else if constexpr (x.what == kind::compute) {
    const auto value = computed<x.op, x.is_mask>(row_operand<x.in[0]>(t), row_operand<x.in[1]>(t), row_operand<x.in[2]>(t));
    if constexpr (x.is_mask) t.mask[I] = value;
    else t.value[I] = value;
  } else {  // a sum over all rows of a value with one number for each row
    if (is_first) t.total[I] = combined<x.bits>(t.total[I], t.value[x.in[0]]);
  }
}

template <class Code>
template <int... I>
TENURE_KERNEL_INLINE void fused<Code>::store_row(const arguments& args, const thread_state& t, std::integer_sequence<int, I...>) {
  if (!t.is_active || t.thread % args.shape.team != 0) return;
  ([&] {
    constexpr auto x = at(I);
    using to = element_of_t<k.access[x.access].type>;
    static_cast<to*>(args.pointer[x.access])[t.offset[x.access]] = number::convert<to>(row_operand<x.in[0]>(t));
  }(), ...);
}

}  // namespace tenure::kernels
