// SPDX-License-Identifier: BSL-1.0
// The facts of a fused kernel on a GPU that follow from its code. Each other header of this folder adds one job to a kernel: it has a class that derives
// from the class of the header before it: launch_shape, rows, elements, reductions, passes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <tenure/kernels/block.hpp>
#include <tenure/kernels/fused/geometry.hpp>
#include <tenure/kernels/fused/sources.hpp>
#include <tenure/program/kernel.hpp>

namespace TENURE_NAMESPACE::kernels {

using program_detail::instruction;
using program_detail::is_dynamic;
using program_detail::part;
using program_detail::places;
using program_detail::position_of;
using program_detail::number_of;

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
struct kernel_facts : program_detail::coded_kernel<Code> {
  using base = program_detail::coded_kernel<Code>;
  using typename base::kind, typename base::record, typename base::T;
  using base::at, base::k, base::kept_rows, base::last, base::slots, base::streams;

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

  static constexpr std::int64_t size = sizeof(T);

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
  static constexpr bool is_run =
      lanes > 1 && lane_of(k.access[A].type) == record::lane && (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] == 1);

  template <class Element>
  static TENURE_KERNEL_INLINE bool is_whole(const Element* first, int n) {
    return n == lanes && reinterpret_cast<std::uintptr_t>(first) % sizeof(run_of<Element>) == 0;
  }

  template <ir::reduction Kind>
  static TENURE_KERNEL_INLINE void add_run(run_of_lanes& to, run_of_lanes from) {
    for (int l = 0; l < lanes; ++l) to.at[l] = ops::combine<Kind>(to.at[l], from.at[l]);
  }
};

}  // namespace tenure::kernels
