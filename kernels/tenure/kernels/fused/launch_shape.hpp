// SPDX-License-Identifier: BSL-1.0
// The shape of a launch for given extents, the memory that it needs, and its arguments.
#pragma once

#include <tenure/kernels/fused/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
struct launch_shape : kernel_facts<Code> {
  using base = kernel_facts<Code>;
  using typename base::arguments, typename base::record, typename base::T;
  using base::column_sums, base::comes_back, base::k, base::kept_rows, base::lanes, base::last, base::may_split_rows, base::number_count;
  using base::owns_rows, base::row_sums, base::size, base::total_sums;

  static std::int64_t shared_bytes(const geometry& g) { return g.shares ? g.scratch * size : 0; }

  /// Whether a launch may need device memory (memory_bytes), for some extents.
  static constexpr bool may_need_memory = kept_rows + column_sums + total_sums > 0 || may_split_rows;
  /// The device memory that a launch needs in addition to the operands. It begins with counters, which must be 0 before the launch.
  static constexpr std::int64_t memory_bytes(const geometry& g) { return layout_of(g).end; }
  /// True if a table of column sums must be added up after all blocks are done.
  static constexpr bool leaves_table(const geometry& g) { return column_sums > 0 && g.row_blocks > 1; }

  static constexpr bool counts_blocks(const geometry& g) { return total_sums > 0 && g.blocks() > 1; }
  static TENURE_KERNEL_INLINE constexpr bool splits_rows(const geometry& g) { return may_split_rows && g.tiles > 1; }

  struct memory_layout {
    std::int64_t scratch, totals, columns, tiles, end;  // bytes
  };

  // ---- a thread of the second kernel, which adds up the table of column sums; its blocks have max_threads threads ----

  static constexpr int fold_blocks(const geometry& g) { return static_cast<int>(ceil_div(g.columns, warp)); }
  static constexpr int fold_bytes = static_cast<int>(sizeof(T)) * max_threads;  // its shared memory

  static constexpr geometry shape_of(const std::int64_t* numbers, const device_limits& limits) {
    const auto number = [&](std::int64_t word) { return is_dynamic(word) ? numbers[word - program_detail::first_dynamic] : word; };
    geometry g;
    g.threads = limits.threads;
    std::int64_t before_last = 1;
    for (int d = 0; d < record::outer; ++d) g.rows *= number(k.extent[d]);
    for (int d = record::outer; d < last; ++d) before_last *= number(k.extent[d]);
    g.columns = before_last * number(k.extent[last]);
    g.packets = before_last * ceil_div(number(k.extent[last]), lanes);
    // A warp takes a short row, with at most 8 packets for each lane, or 4 if a later pass reads them again: then the rows of all
    // running warps stay in the L1 cache. If no team must take a whole row, a block takes a part of each row. For sums
    // over rows a warp takes a part, if there are enough rows, and if the rows are so short that a lane has only a few packets.
    constexpr std::int64_t kept_of_packet = (kept_rows + column_sums) * lanes * size;  // bytes
    const std::int64_t of_lane = ceil_div(g.packets, warp);
    const bool of_warp = owns_rows ? of_lane <= (comes_back ? 4 : 8) && kept_of_packet * of_lane * g.threads <= limits.warp_bytes
                                   : column_sums > 0 && g.rows >= g.threads / warp &&
                                         kept_of_packet * ceil_div(of_lane, limits.blocks) * g.threads <= limits.warp_bytes;
    const std::int64_t wanted = of_warp && g.packets > warp ? warp : g.packets;
    while (g.team < g.threads && g.team < wanted) g.team *= 2;
    if (g.team > warp) {
      if (owns_rows) g.threads = g.team;  // threads without a packet would only wait at the barriers
      else g.team = g.threads;
    }
    const auto at_most = [](std::int64_t n, std::int64_t bound) { return static_cast<int>(greater(1, lesser(n, bound))); };
    // Summing over all threads of a block takes as long as a few packets, so with such sums each thread gets at least four.
    if (!owns_rows) g.tiles = at_most(ceil_div(g.packets, g.team * (total_sums > 0 ? 4 : 1)), limits.blocks);
    if (may_split_rows && g.team == g.threads && g.rows > 0 && g.rows < limits.split_rows)
      g.tiles = at_most(ceil_div(g.packets, g.team * 4), limits.blocks / g.rows);
    g.packet_steps = ceil_div(g.packets, std::int64_t{g.tiles} * g.team);
    const std::int64_t kept = kept_of_packet * g.packet_steps * g.threads;
    g.scratch = kept / size;
    g.shares = kept <= limits.shared_bytes;
    std::int64_t most = limits.blocks, rows_of_block = g.teams();
    if (kept > limits.wide_bytes) most = lesser(most, greater(limits.wide_blocks, limits.kept_bytes / kept));
    most /= g.tiles;
    if (column_sums > 0) {  // the table of column sums must be small compared with the data that the blocks read, and quick to add up
      most = lesser(most, limits.table_rows);
      rows_of_block = greater(rows_of_block, owns_rows && kept <= limits.wide_bytes ? 4 : 16);
    }
    g.row_blocks = at_most(ceil_div(g.rows, rows_of_block), most);
    g.row_steps = ceil_div(g.rows, std::int64_t{g.row_blocks} * g.teams());
    return g;
  }

  static constexpr std::int64_t counter_bytes(const geometry& g) {
    return counts_blocks(g) || splits_rows(g) ? static_cast<std::int64_t>(sizeof(unsigned)) * (1 + (splits_rows(g) ? g.rows : 0)) : 0;
  }

  static auto bind(void* const* pointers, const std::int64_t* numbers, const geometry& g, void* memory) -> arguments {
    arguments a;
    for (int i = 0; i < record::accesses; ++i) a.pointer[i] = pointers[i];
    for (int i = 0; i < number_count; ++i) a.number[i] = numbers[i];
    a.shape = g;
    const auto within = [&](std::int64_t at) { return static_cast<void*>(static_cast<char*>(memory) + at); };
    const memory_layout l = layout_of(g);
    a.arrived = static_cast<unsigned*>(memory);
    a.scratch = static_cast<T*>(within(l.scratch));
    a.totals = static_cast<T*>(within(l.totals));
    a.columns = static_cast<T*>(within(l.columns));
    a.tiles = static_cast<T*>(within(l.tiles));
    return a;
  }

  static constexpr auto layout_of(const geometry& g) -> memory_layout {
    const auto padded = [](std::int64_t elements) { return (elements * size + 15) / 16 * 16; };
    memory_layout l{};
    l.scratch = (counter_bytes(g) + 15) / 16 * 16;
    l.totals = l.scratch + (g.shares ? 0 : padded(g.scratch) * g.blocks());
    l.columns = l.totals + (counts_blocks(g) ? padded(std::int64_t{total_sums} * g.blocks()) : 0);
    l.tiles = l.columns + (leaves_table(g) ? padded(column_sums * g.row_blocks * g.columns) : 0);
    l.end = l.tiles + (splits_rows(g) ? padded(row_sums * g.rows * g.tiles) : 0);
    return l;
  }
};

}  // namespace tenure::kernels
