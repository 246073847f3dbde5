// SPDX-License-Identifier: BSL-1.0
// A thread of a kernel: it takes its rows in turn, and walks each row pass by pass.
#pragma once

#include <tenure/kernels/fused/reductions.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
struct fused : reductions<Code> {
  using base = reductions<Code>;
  using typename base::arguments, typename base::record, typename base::run_of_lanes, typename base::T, typename base::thread_state;
  using base::at, base::begin_sums, base::column_sums, base::finish_columns, base::finish_totals, base::kept_rows, base::lanes, base::place_of, base::rank_of;
  using base::reduce_rows, base::reduces_rows, base::row_phase, base::run_at, base::scratch_at, base::store_row, base::stores_rows, base::total_sums;
  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;

  template <class Block>
  static TENURE_KERNEL_INLINE void run(Block& block, const arguments& args) {
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

  static TENURE_KERNEL_INLINE void begin(const arguments& args, thread_state& t, T* scratch) {
    [&]<int... I>(std::integer_sequence<int, I...>) { ((t.total[I] = ops::identity<at(I).reduction(), T>()), ...); }(those<part::totals>{});
    [&]<int... I>(std::integer_sequence<int, I...>) { (begin_column<I>(args, t, scratch), ...); }(those<part::column_sums>{});
  }

  template <int I>
  static TENURE_KERNEL_INLINE void begin_column(const arguments& args, const thread_state& t, T* scratch) {
    run_of_lanes nothing;
    for (int l = 0; l < lanes; ++l) nothing.at[l] = ops::identity<at(I).reduction(), T>();
    for (std::int64_t s = 0; s < args.shape.packet_steps; ++s) run_at(args, scratch_at(args, scratch, t.thread, s), kept_rows + rank_of(I)) = nothing;
  }

  static TENURE_KERNEL_INLINE void begin_row(const arguments& args, thread_state& t, int block, std::int64_t step) {
    const geometry& g = args.shape;
    t.row = (step * g.row_blocks + block / g.tiles) * g.teams() + t.thread / g.team;
    t.is_active = t.row < g.rows;
    for (int a = 0; a < record::accesses; ++a) t.offset[a] = 0;
    if (!t.is_active) return;
    base::template move_to<0, record::outer - 1>(args, t.offset, t.row);
    // A value with one number for each row is added to a total once: by the first thread of the first tile of the row.
    row_phase(args, t, block % g.tiles == 0 && t.thread % g.team == 0, those<part::row_values>{});
  }

  template <int Pass, class Block>
  static TENURE_KERNEL_INLINE void passes_from(Block& block, const arguments& args, thread_state& t, T* scratch) {
    if constexpr (Pass < record::passes) {
      const geometry& g = args.shape;
      begin_sums(t, those<part::row_sums, Pass>{});
      if (t.is_active) {
        const std::int64_t stride = std::int64_t{g.tiles} * g.team;
        std::int64_t packet = std::int64_t{block.index % g.tiles} * g.team + t.thread % g.team;
        for (std::int64_t s = 0; s < g.packet_steps; ++s, packet += stride) {
          if (packet >= g.packets) break;
          base::template elements<Pass>(args, t, place_of(args, t, packet, scratch_at(args, scratch, t.thread, s)));
        }
      }
      reduce_rows(block, args, t, those<part::row_sums, Pass>{});
      if constexpr (reduces_rows)
        if (t.is_active) row_phase(args, t, t.thread % g.team == 0, those<part::row_values, Pass + 1>{});
      passes_from<Pass + 1>(block, args, t, scratch);
    }
  }

  /// Adds up the table of column sums. A block takes as many columns as a warp has threads: each warp adds a part of the rows,
  /// then the parts are added in order. If one thread added a whole column, it would wait for memory once for each row.
  template <class Block>
  static TENURE_KERNEL_INLINE void fold_columns(Block& block, const arguments& args) { base::fold(block, args, those<part::column_sums>{}); }
};

}  // namespace tenure::kernels
