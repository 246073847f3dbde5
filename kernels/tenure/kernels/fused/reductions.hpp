// SPDX-License-Identifier: BSL-1.0
// Reductions over rows, columns and all elements: the sums of a thread, of a block and of all blocks.
#pragma once

#include <tenure/kernels/fused/elements.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
struct reductions : elements_of_thread<Code> {
  using base = elements_of_thread<Code>;
  using typename base::arguments, typename base::place, typename base::run_of_lanes, typename base::T, typename base::thread_state;
  using base::at, base::is_whole, base::kept_rows, base::lanes, base::may_split_rows, base::place_of, base::rank_of, base::run_at, base::scratch_at;
  using base::splits_rows;

  template <int... I>
  static TENURE_KERNEL_INLINE void begin_sums(thread_state& t, std::integer_sequence<int, I...>) {
    ((t.sum[I] = ops::identity<at(I).reduction(), T>()), ...);
  }

  template <ir::reduction Kind, class Block>
  static TENURE_KERNEL_INLINE auto reduced_across(Block& block, int team, T mine) -> T {
    return across(block, team, mine, [](T a, T b) { return ops::combine<Kind>(a, b); });
  }

  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void reduce_rows(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
    ((t.value[I] = reduced_across<at(I).reduction()>(block, args.shape.team, t.sum[I])), ...);
    if constexpr (may_split_rows)
      if (splits_rows(args.shape)) fold_tiles(block, args, t, std::integer_sequence<int, I...>{});
  }

  /// Each block of a row writes its sums. The last block to arrive reads the sums of all blocks and continues. The other blocks are done.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold_tiles(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    const int row = block.index / g.tiles;
    const auto first_of = [&](int sum) { return args.tiles + (sum * g.rows + row) * g.tiles; };
    if (t.thread == 0) ((first_of(rank_of(I))[block.index % g.tiles] = t.value[I]), ...);
    t.is_active = block.arrives_last(args.arrived + 1 + row, g.tiles);
    if (!t.is_active) return;
    ([&] {
      T sum = ops::identity<at(I).reduction(), T>();
      for (int tile = t.thread; tile < g.tiles; tile += g.threads)
        sum = ops::combine<at(I).reduction()>(sum, block.published(first_of(rank_of(I)) + tile));
      t.value[I] = reduced_across<at(I).reduction()>(block, g.threads, sum);
    }(), ...);
  }

  /// Adds the column sums of this block's teams to one row. This row is the result, or a row of the table that the second kernel adds up.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_columns(Block& block, const arguments& args, const thread_state& t, T* scratch, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    const auto sums_of = [&](int thread, std::int64_t step, int sum) -> run_of_lanes& {
      return run_at(args, scratch_at(args, scratch, thread, step), kept_rows + sum);
    };
    for (int half = g.teams() / 2; half > 0; half /= 2) {
      block.sync();
      if (t.thread < half * g.team)
        for (std::int64_t s = 0; s < g.packet_steps; ++s)
          (base::template add_run<at(I).reduction()>(sums_of(t.thread, s, rank_of(I)), sums_of(t.thread + half * g.team, s, rank_of(I))), ...);
    }
    if (t.thread >= g.team) return;
    std::int64_t packet = std::int64_t{block.index % g.tiles} * g.team + t.thread;
    for (std::int64_t s = 0; s < g.packet_steps; ++s, packet += std::int64_t{g.tiles} * g.team) {
      if (packet >= g.packets) break;
      const place p = place_of(args, t, packet, nullptr);  // for its column and count, which are the same in every row
      ([&] {
        T* const row = g.row_blocks == 1 ? static_cast<T*>(args.pointer[at(I).access])
                                         : args.columns + (std::int64_t{rank_of(I)} * g.row_blocks + block.index / g.tiles) * g.columns;
        T* const to = row + p.column;
        const run_of_lanes sums = sums_of(t.thread, s, rank_of(I));
        if (is_whole(to, p.count)) *reinterpret_cast<run_of_lanes*>(to) = sums;
        else
          for (int l = 0; l < lanes; ++l)
            if (l < p.count) to[l] = sums.at[l];
      }(), ...);
    }
  }

  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold(Block& block, const arguments& args, std::integer_sequence<int, I...>) {
    const geometry& g = args.shape;
    constexpr int pieces = max_threads / warp;
    const int piece = block.thread / warp, begin = piece * g.row_blocks / pieces, end = (piece + 1) * g.row_blocks / pieces;
    const std::int64_t column = std::int64_t{block.index} * warp + block.thread % warp;
    T* const sums = static_cast<T*>(block.shared());
    ([&] {
      T sum = ops::identity<at(I).reduction(), T>();
      const T* const table = args.columns + std::int64_t{rank_of(I)} * g.row_blocks * g.columns + column;
      if (column < g.columns)
        for (int b = begin; b < end; ++b) sum = ops::combine<at(I).reduction()>(sum, table[b * g.columns]);
      sums[block.thread] = sum;
      block.sync();
      if (piece == 0 && column < g.columns) {
        for (int p = 1; p < pieces; ++p) sum = ops::combine<at(I).reduction()>(sum, sums[p * warp + block.thread]);
        static_cast<T*>(args.pointer[at(I).access])[column] = sum;
      }
      block.sync();
    }(), ...);
  }

  /// Each block writes its totals. The last block to arrive adds the totals of all blocks, in order.
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_totals(Block& block, const arguments& args, const thread_state& t, std::integer_sequence<int, I...>) {
    const int blocks = args.shape.blocks();
    ([&] {
      const T total = reduced_across<at(I).reduction()>(block, args.shape.threads, t.total[I]);
      if (t.thread == 0) (blocks == 1 ? static_cast<T*>(args.pointer[at(I).access])[0] : args.totals[rank_of(I) * blocks + block.index]) = total;
    }(), ...);
    if (blocks == 1 || !block.arrives_last(args.arrived, blocks)) return;
    ([&] {
      T total = ops::identity<at(I).reduction(), T>();
      for (int b = t.thread; b < blocks; b += args.shape.threads)
        total = ops::combine<at(I).reduction()>(total, block.published(args.totals + rank_of(I) * blocks + b));
      total = reduced_across<at(I).reduction()>(block, args.shape.threads, total);
      if (t.thread == 0) static_cast<T*>(args.pointer[at(I).access])[0] = total;
    }(), ...);
  }
};

}  // namespace tenure::kernels
