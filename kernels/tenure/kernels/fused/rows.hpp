// SPDX-License-Identifier: BSL-1.0
// The positions of a thread, and the instructions that have one value for each row.
#pragma once

#include <tenure/kernels/fused/launch_shape.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
struct rows_of_thread : launch_shape<Code> {
  using base = launch_shape<Code>;
  using typename base::arguments, typename base::place, typename base::record, typename base::stream_indices, typename base::T, typename base::thread_state;
  using base::lanes, base::last;

  /// Moves the offsets to position `index`, in row-major order over the dimensions First to D.
  template <int First, int D>
  static TENURE_KERNEL_INLINE void move_to(const arguments& args, std::int64_t* offset, std::int64_t index) {
    if constexpr (D == First) {
      program_detail::move_along<Code, D>(args, offset, index, stream_indices{});
    } else if constexpr (D > First) {
      const quotient q = divided(index, number_of(args, base::extent(D)));
      program_detail::move_along<Code, D>(args, offset, q.rest, stream_indices{});
      move_to<First, D - 1>(args, offset, q.whole);
    }
  }

  static TENURE_KERNEL_INLINE place place_of(const arguments& args, const thread_state& t, std::int64_t packet, T* scratch) {
    place p;
    p.scratch = scratch;
    for (int a = 0; a < record::accesses; ++a) p.offset[a] = t.offset[a];
    const std::int64_t n = number_of(args, base::extent(last));
    std::int64_t i = packet * lanes;
    p.column = i;
    if constexpr (record::inner > 1) {
      const quotient q = divided(packet, ceil_div(n, lanes));
      move_to<record::outer, last - 1>(args, p.offset, q.whole);
      i = q.rest * lanes;
      p.column = q.whole * n + i;
    }
    program_detail::move_along<Code, last>(args, p.offset, i, stream_indices{});
    p.count = lanes == 1 || n - i >= lanes ? lanes : static_cast<int>(n - i);
    return p;
  }

  template <int... I>
  static TENURE_KERNEL_INLINE void row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>) {
    (program_detail::row_instruction<Code, I>(args, t.offset, t, t.total, is_first), ...);
  }

  template <int... I>
  static TENURE_KERNEL_INLINE void store_row(const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
    if (!t.is_active || t.thread % args.shape.team != 0) return;
    row_phase(args, t, true, std::integer_sequence<int, I...>{});
  }
};

}  // namespace tenure::kernels
