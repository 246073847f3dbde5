// SPDX-License-Identifier: BSL-1.0
// The class of a fused kernel on a GPU: the facts that follow from its code, and the declarations of its functions. The functions are in
// the other headers of this folder, one job each.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <tenure/kernels/block.hpp>
#include <tenure/kernels/fused/geometry.hpp>
#include <tenure/kernels/fused/sources.hpp>
#include <tenure/program/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

using program_detail::extent_of;
using program_detail::instruction;
using program_detail::is_dynamic;
using program_detail::part;
using program_detail::places;
using program_detail::position_of;
using program_detail::stride_of;

/// The arguments of a kernel, passed by value. The pointer of an access that counts positions is null.
template <class T, int Pointers, int Numbers, class Sources>
struct fused_arguments : Sources {
  void* pointer[Pointers];
  std::int64_t number[Numbers];
  geometry shape;
  T* scratch;         // the scratch memory of all blocks, if it does not fit into shared memory
  T* totals;          // for each sum over all elements: one number for each block
  T* columns;         // for each sum over rows: a table with a row for each row of blocks
  T* tiles;           // for each sum over columns: a table with one number for each row and tile
  unsigned* arrived;  // [0]: the number of blocks that are done; then for each row the number of its tiles that are done
};

template <class Code>
struct fused : program_detail::coded_kernel<Code> {
  using base = program_detail::coded_kernel<Code>;
  using record = typename base::record;
  using kind = instruction::kind;
  using T = typename base::T;
  using stream_indices = typename base::stream_indices;
  using base::k, base::last, base::slots, base::streams, base::at, base::rank_of, base::kept_before, base::kept_rows, base::number_count;

  static constexpr int column_sums = base::count_of(kind::reduce_columns), total_sums = base::count_of(kind::reduce_all);
  static constexpr int row_sums = base::count_of(kind::reduce_row);
  // True if a later pass reads values that an earlier pass loaded or kept.
  static constexpr bool comes_back = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).is_kept() || (at(i).what == kind::load && !at(i).row && std::popcount(at(i).passes) > 1)) return true;
    return false;
  }();
  static constexpr bool reduces_rows = record::passes > 1 || row_sums > 0;
  static constexpr bool stores_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).stores_row()) return true;
    return false;
  }();
  // True if one team must take a whole row, because it reduces the row or stores one value for it.
  static constexpr bool owns_rows = reduces_rows || stores_rows;

  // True if several blocks may share a row. Each block writes its part of the row's sums, and the last block of the row continues
  // with the whole sums. This is not possible if a value of the row is added to a total: any block may come last, so the order
  // of the total would vary.
  static constexpr bool may_split_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::reduce_all && at(at(i).in[0]).row) return false;
    return record::passes == 1 && row_sums > 0 && kept_rows + column_sums == 0;
  }();

  // Packets of 16 bytes use the memory best. Each lane of a packet is a copy of the code, so long kernels have smaller packets: 8 bytes
  // when arithmetic takes longer than memory (16 bytes would cost nvcc 0.2 s for 64 operations), and one element for very long kernels.
  static constexpr int packet_bytes = record::instructions <= 48 ? 16 : record::instructions <= 96 ? 8 : 0;
  static constexpr int lanes = std::is_floating_point_v<T> && k.extent[last] != 1 && packet_bytes > 0 ? packet_bytes / static_cast<int>(sizeof(T)) : 1;

  using arguments = fused_arguments<T, streams, base::numbers, sources_of<Code>>;

  struct thread_state : base::row_state {
    int thread;      // its number in the block
    bool is_active;  // true if the thread has a row
    std::int64_t row;
    std::int64_t offset[streams];
    T sum[slots];  // sums over the row
    T total[slots];
  };

  static constexpr geometry shape_of(const std::int64_t* numbers, const device_limits& limits);

  static std::int64_t shared_bytes(const geometry& g) { return g.shares ? g.scratch * size : 0; }

  /// Whether a launch may need device memory (memory_bytes), for some extents.
  static constexpr bool may_need_memory = kept_rows + column_sums + total_sums > 0 || may_split_rows;
  /// The device memory that a launch needs in addition to the operands. It begins with counters, which must be 0 before the launch.
  static constexpr std::int64_t memory_bytes(const geometry& g) { return layout_of(g).end; }
  static constexpr std::int64_t counter_bytes(const geometry& g);
  /// True if a table of column sums must be added up after all blocks are done.
  static constexpr bool leaves_table(const geometry& g) { return column_sums > 0 && g.row_blocks > 1; }

  static arguments bind(void* const* pointers, const std::int64_t* numbers, const geometry& g, void* memory);

  template <class Block>
  static TENURE_KERNEL_INLINE void run(Block& block, const arguments& args);

  // ---- a thread of the second kernel, which adds up the table of column sums; its blocks have max_threads threads ----

  static constexpr int fold_blocks(const geometry& g) { return static_cast<int>(ceil_div(g.columns, warp)); }
  static constexpr int fold_bytes = static_cast<int>(sizeof(T)) * max_threads;  // its shared memory

  /// Adds up the table of column sums. A block takes as many columns as a warp has threads: each warp adds a part of the rows,
  /// then the parts are added in order. If one thread added a whole column, it would wait for memory once for each row.
  template <class Block>
  static TENURE_KERNEL_INLINE void fold_columns(Block& block, const arguments& args) { fold(block, args, those<part::column_sums>{}); }

 private:
  static constexpr std::int64_t size = sizeof(T);

  static constexpr bool counts_blocks(const geometry& g) { return total_sums > 0 && g.blocks() > 1; }
  static TENURE_KERNEL_INLINE constexpr bool splits_rows(const geometry& g) { return may_split_rows && g.tiles > 1; }

  struct memory_layout {
    std::int64_t scratch, totals, columns, tiles, end;  // bytes
  };

  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;
  template <int I>
  using operands_of = typename base::template operands_of<I>;

  struct packet_state {
    T value[slots][lanes];
    bool mask[slots][lanes];
  };
  /// The position of a packet.
  struct place {
    std::int64_t offset[streams];  // the offset of its first element in each operand
    std::int64_t column;           // the column of its first element
    int count;                     // the number of its elements inside the row
    T* scratch;                    // its first kept value; the values of other slots follow at a fixed distance
  };

  /// The elements of a packet in memory, which may have a narrower type than the lanes.
  template <class Element>
  struct alignas(sizeof(Element) * lanes) run_of {
    Element at[lanes];
  };
  using run_of_lanes = run_of<T>;
  /// The place of a thread's packet in a step, for the first kept slot.
  static TENURE_KERNEL_INLINE T* scratch_at(const arguments& args, T* scratch, int thread, std::int64_t step) {
    return scratch + (step * args.shape.threads + thread) * lanes;
  }
  /// The place of another slot. It is aligned even if the operands are not.
  static TENURE_KERNEL_INLINE run_of_lanes& run_at(const arguments& args, T* of_first, int slot) {
    return *reinterpret_cast<run_of_lanes*>(of_first + slot * (args.shape.packet_steps * lanes * args.shape.threads));
  }

  /// True if the type of access A allows a packet: its elements become T and may be contiguous in memory.
  template <int A>
  static constexpr bool is_run = lanes > 1 && lane_of(k.access[A].type) == record::lane && (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] == 1);

  template <class Element>
  static TENURE_KERNEL_INLINE bool is_whole(const Element* first, int n) { return n == lanes && reinterpret_cast<std::uintptr_t>(first) % sizeof(run_of<Element>) == 0; }

  // ---- the shape and the memory of a launch: fused/launch_shape.hpp ----

  static constexpr memory_layout layout_of(const geometry& g);

  // ---- the rows and passes of a thread: fused/passes.hpp ----

  template <int First, int D>
  static TENURE_KERNEL_INLINE void move_to(const arguments& args, std::int64_t* offset, std::int64_t index);
  static TENURE_KERNEL_INLINE void begin(const arguments& args, thread_state& t, T* scratch);
  template <int I>
  static TENURE_KERNEL_INLINE void begin_column(const arguments& args, const thread_state& t, T* scratch);
  static TENURE_KERNEL_INLINE void begin_row(const arguments& args, thread_state& t, int block, std::int64_t step);
  template <int Pass, class Block>
  static TENURE_KERNEL_INLINE void passes_from(Block& block, const arguments& args, thread_state& t, T* scratch);
  static TENURE_KERNEL_INLINE place place_of(const arguments& args, const thread_state& t, std::int64_t packet, T* scratch);

  // ---- the instructions of a packet: fused/elements.hpp ----

  template <int Pass>
  static TENURE_KERNEL_INLINE void elements(const arguments& args, thread_state& t, const place& p);
  template <int First, int... I, int... J>
  static constexpr auto some(std::integer_sequence<int, J...>) {
    constexpr int all[] = {I...};
    return std::integer_sequence<int, all[First + J]...>{};
  }
  template <int... I>
  static TENURE_KERNEL_INLINE void lane(thread_state& t, const place& p, packet_state& e, [[maybe_unused]] int l, std::integer_sequence<int, I...>);
  template <int I, class From>
  static TENURE_KERNEL_INLINE void enter(packet_state& e, int l, From v);
  template <int I>
  static TENURE_KERNEL_INLINE void read(const arguments& args, const thread_state& t, const place& p, packet_state& e);
  template <int Slot>
  static TENURE_KERNEL_INLINE auto operand(const thread_state& t, const packet_state& e, int l);
  template <int I, int... K>
  static TENURE_KERNEL_INLINE auto compute(const thread_state& t, const packet_state& e, int l, places<K...>);
  template <int I>
  static TENURE_KERNEL_INLINE void element(thread_state& t, const place& p, packet_state& e, int l);
  template <int I>
  static TENURE_KERNEL_INLINE void write(const arguments& args, const thread_state& t, const place& p, const packet_state& e);

  // ---- the instructions of a row: fused/rows.hpp ----

  template <int... I>
  static TENURE_KERNEL_INLINE void row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_KERNEL_INLINE void store_row(const arguments& args, thread_state& t, std::integer_sequence<int, I...>);

  // ---- reductions: fused/reductions.hpp ----

  template <int... I>
  static TENURE_KERNEL_INLINE void begin_sums(thread_state& t, std::integer_sequence<int, I...>);
  template <ir::reduction Kind, class Block>
  static TENURE_KERNEL_INLINE T reduced_across(Block& block, int team, T mine);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void reduce_rows(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold_tiles(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_columns(Block& block, const arguments& args, const thread_state& t, T* scratch, std::integer_sequence<int, I...>);
  template <ir::reduction Kind>
  static TENURE_KERNEL_INLINE void add_run(run_of_lanes& to, run_of_lanes from);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold(Block& block, const arguments& args, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_totals(Block& block, const arguments& args, const thread_state& t, std::integer_sequence<int, I...>);
};

}  // namespace tenure::kernels
