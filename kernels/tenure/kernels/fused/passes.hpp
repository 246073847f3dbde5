// SPDX-License-Identifier: BSL-1.0
// A thread of a kernel: it takes its rows in turn, and walks each row pass by pass.
#pragma once

#include <tenure/kernels/fused/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
template <class Block>
TENURE_KERNEL_INLINE void fused<Code>::run(Block& block, const arguments& args) {
  T* const scratch = args.shape.shares ? static_cast<T*>(block.shared()) : args.scratch + block.index * args.shape.scratch;
  thread_state t{};
  t.thread = block.thread;
  begin(args, t, scratch);
  for (std::int64_t step = 0; step < args.shape.row_steps; ++step) {
    begin_row(args, t, block.index, step);
    passes_from<0>(block, args, t, scratch);
    if constexpr (stores_rows) {
      if (args.shape.team > warp) block.sync();  // the store may overwrite an operand in place that other threads still read
      else block.sync_warp();
      store_row(args, t, those<part::row_stores>{});
    }
  }
  if constexpr (column_sums > 0) finish_columns(block, args, t, scratch, those<part::column_sums>{});
  if constexpr (total_sums > 0) finish_totals(block, args, t, those<part::totals>{});
}

/// Moves the offsets to position `index`, in row-major order over the dimensions First to D.
template <class Code>
template <int First, int D>
TENURE_KERNEL_INLINE void fused<Code>::move_to(const arguments& args, std::int64_t* offset, std::int64_t index) {
  if constexpr (D == First) {
    program_detail::move_along<Code, D>(args, offset, index, stream_indices{});
  } else if constexpr (D > First) {
    const quotient q = divided(index, extent_of<Code, D>(args));
    program_detail::move_along<Code, D>(args, offset, q.rest, stream_indices{});
    move_to<First, D - 1>(args, offset, q.whole);
  }
}

template <class Code>
TENURE_KERNEL_INLINE void fused<Code>::begin(const arguments& args, thread_state& t, T* scratch) {
  [&]<int... I>(std::integer_sequence<int, I...>) { ((t.total[I] = ops::identity<at(I).reduction(), T>()), ...); }(those<part::totals>{});
  [&]<int... I>(std::integer_sequence<int, I...>) { (begin_column<I>(args, t, scratch), ...); }(those<part::column_sums>{});
}

template <class Code>
template <int I>
TENURE_KERNEL_INLINE void fused<Code>::begin_column(const arguments& args, const thread_state& t, T* scratch) {
  run_of_lanes nothing;
  for (int l = 0; l < lanes; ++l) nothing.at[l] = ops::identity<at(I).reduction(), T>();
  for (std::int64_t s = 0; s < args.shape.packet_steps; ++s) run_at(args, scratch_at(args, scratch, t.thread, s), kept_rows + rank_of(I)) = nothing;
}

template <class Code>
TENURE_KERNEL_INLINE void fused<Code>::begin_row(const arguments& args, thread_state& t, int block, std::int64_t step) {
  const geometry& g = args.shape;
  t.row = (step * g.row_blocks + block / g.tiles) * g.teams() + t.thread / g.team;
  t.is_active = t.row < g.rows;
  for (int a = 0; a < record::accesses; ++a) t.offset[a] = 0;
  if (!t.is_active) return;
  move_to<0, record::outer - 1>(args, t.offset, t.row);
  // A value with one number for each row is added to a total once: by the first thread of the first tile of the row.
  row_phase(args, t, block % g.tiles == 0 && t.thread % g.team == 0, those<part::row_values>{});
}

template <class Code>
template <int Pass, class Block>
TENURE_KERNEL_INLINE void fused<Code>::passes_from(Block& block, const arguments& args, thread_state& t, T* scratch) {
  if constexpr (Pass < record::passes) {
    const geometry& g = args.shape;
    begin_sums(t, those<part::row_sums, Pass>{});
    if (t.is_active) {
      const std::int64_t stride = std::int64_t{g.tiles} * g.team;
      std::int64_t packet = std::int64_t{block.index % g.tiles} * g.team + t.thread % g.team;
      for (std::int64_t s = 0; s < g.packet_steps; ++s, packet += stride) {
        if (packet >= g.packets) break;
        elements<Pass>(args, t, place_of(args, t, packet, scratch_at(args, scratch, t.thread, s)));
      }
    }
    reduce_rows(block, args, t, those<part::row_sums, Pass>{});
    if constexpr (reduces_rows)
      if (t.is_active) row_phase(args, t, t.thread % g.team == 0, those<part::row_values, Pass + 1>{});
    passes_from<Pass + 1>(block, args, t, scratch);
  }
}

template <class Code>
TENURE_KERNEL_INLINE auto fused<Code>::place_of(const arguments& args, const thread_state& t, std::int64_t packet, T* scratch) -> place {
  place p;
  p.scratch = scratch;
  for (int a = 0; a < record::accesses; ++a) p.offset[a] = t.offset[a];
  const std::int64_t n = extent_of<Code, last>(args);
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

}  // namespace tenure::kernels
