// SPDX-License-Identifier: BSL-1.0
// The instructions that have one value for each row.
#pragma once

#include <tenure/kernels/fused/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
template <int... I>
TENURE_KERNEL_INLINE void fused<Code>::row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>) {
  (program_detail::row_instruction<Code, I>(args, t.offset, t, t.total, is_first), ...);
}

template <class Code>
template <int... I>
TENURE_KERNEL_INLINE void fused<Code>::store_row(const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
  if (!t.is_active || t.thread % args.shape.team != 0) return;
  row_phase(args, t, true, std::integer_sequence<int, I...>{});
}

}  // namespace tenure::kernels
