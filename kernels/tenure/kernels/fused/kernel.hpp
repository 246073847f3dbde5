// SPDX-License-Identifier: BSL-1.0
// The class of a fused kernel on a GPU: the facts that follow from its code, and the list of its functions. The functions stand in the
// other headers of this folder, one job each.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tenure/kernels/block.hpp>
#include <tenure/kernels/fused/geometry.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/ops/combine.hpp>
#include <tenure/program/decode.hpp>

namespace TENURE_NAMESPACE::kernels {

using passes::instruction;
using program_detail::is_dynamic;

/// The arguments of a kernel, passed by value. The pointer of an access that counts positions is null.
template <class T, int Pointers, int Numbers>
struct fused_arguments {
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
struct fused {
  using record = program_detail::decoded<Code>;
  using kind = instruction::kind;
  static constexpr record k{};
  using T = element_of_t<record::lane>;
  static constexpr int last = record::rank - 1;
  static constexpr int slots = record::instructions > 0 ? record::instructions : 1;
  static constexpr int streams = record::accesses > 0 ? record::accesses : 1;

  static constexpr const program_detail::decoded_instruction& at(int i) { return k.instruction[i]; }

  static constexpr int count(kind what) {
    int n = 0;
    for (int i = 0; i < record::instructions; ++i) n += at(i).what == what;
    return n;
  }
  /// The number of earlier instructions of the same kind, which gives the position of this one's memory.
  static constexpr int rank_of(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += at(i).what == at(slot).what;
    return n;
  }
  static constexpr bool keeps(int i) { return at(i).what == kind::compute && !at(i).row && at(i).access >= 0; }
  static constexpr int kept_before(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += keeps(i);
    return n;
  }
  static constexpr int kept_rows = kept_before(record::instructions);
  static constexpr int column_sums = count(kind::reduce_columns), total_sums = count(kind::reduce_all), row_sums = count(kind::reduce_row);
  // True if a later pass reads values that an earlier pass loaded or kept.
  static constexpr bool comes_back = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (keeps(i) || (at(i).what == kind::load && !at(i).row && std::popcount(static_cast<unsigned>(at(i).passes)) > 1)) return true;
    return false;
  }();
  static constexpr bool reduces_rows = record::passes > 1 || row_sums > 0;
  static constexpr bool stores_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::store && at(i).row) return true;
    return false;
  }();
  // True if one team must take a whole row, because it reduces the row or stores one value for it.
  static constexpr bool owns_rows = reduces_rows || stores_rows;

  // True if several blocks may share a row. Each block writes its part of the row's sums, and the last block of the row continues
  // with the whole sums. This is not possible if a value of the row is added to a total: any block may be the last, so the order
  // would vary.
  static constexpr bool may_split_rows = [] {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::reduce_all && at(at(i).in[0]).row) return false;
    return record::passes == 1 && row_sums > 0 && kept_rows + column_sums == 0;
  }();

  // Packets of 16 bytes use the memory best. Each lane of a packet is a copy of the code, so long kernels have smaller packets: 8
  // bytes where arithmetic takes longer than memory (16 would cost nvcc 0.2 s for 64 operations), and one element beyond that.
  static constexpr int packet_bytes = record::instructions <= 48 ? 16 : record::instructions <= 96 ? 8 : 0;
  static constexpr int lanes = std::is_floating_point_v<T> && k.extent[last] != 1 && packet_bytes > 0 ? packet_bytes / static_cast<int>(sizeof(T)) : 1;

  static constexpr int number_count = [] {
    std::int64_t n = 0;
    const auto see = [&](std::int64_t word) {
      if (is_dynamic(word) && word - program_detail::first_dynamic >= n) n = word - program_detail::first_dynamic + 1;
    };
    for (int a = 0; a < record::accesses; ++a) see(k.access[a].start);
    for (int d = 0; d < record::rank; ++d) {
      see(k.extent[d]);
      for (int a = 0; a < record::accesses; ++a) see(k.access[a].stride[d]);
    }
    return static_cast<int>(n);
  }();

  using arguments = fused_arguments<T, streams, (number_count > 0 ? number_count : 1)>;

  struct thread_state {
    int thread;      // its number in the block
    bool is_active;  // true if the thread has a row
    std::int64_t row;
    std::int64_t offset[streams];
    T value[slots];  // values with one number for each row
    bool mask[slots];
    T sum[slots];  // sums over the row
    T total[slots];
  };

  static constexpr geometry shape_of(const std::int64_t* numbers, const device_limits& limits);

  static std::int64_t shared_bytes(const geometry& g) { return g.shares ? g.scratch * size : 0; }

  /// Whether a launch can need such memory, at whatever extents.
  static constexpr bool may_need_memory = kept_rows + column_sums + total_sums > 0 || may_split_rows;
  /// The device memory that a launch needs in addition to the operands. It begins with counters, which must be 0 before the launch.
  static constexpr std::int64_t memory_bytes(const geometry& g) { return layout_of(g).end; }
  static constexpr std::int64_t counter_bytes(const geometry& g);
  /// True if a table of column sums must be added up after all blocks are done.
  static constexpr bool leaves_table(const geometry& g) { return column_sums > 0 && g.row_blocks > 1; }

  static arguments bind(void* const* pointers, const std::int64_t* numbers, const geometry& g, void* memory);

  template <class Block>
  static TENURE_KERNEL_INLINE void run(Block& block, const arguments& args);

  // ---- a thread of the second kernel, which adds up the table of column sums; its blocks have most_threads threads ----

  static constexpr int fold_blocks(const geometry& g) { return static_cast<int>(ceil_div(g.columns, warp)); }
  static constexpr int fold_bytes = static_cast<int>(sizeof(T)) * most_threads;  // its shared memory

  /// Adds up the table of column sums. A block takes as many columns as a warp has threads: each warp adds a part of the rows,
  /// then the parts are added in order. With one thread for each column, that thread would wait for memory once for each row.
  template <class Block>
  static TENURE_KERNEL_INLINE void fold_columns(Block& block, const arguments& args) { fold(block, args, those<part::column_sums>{}); }

 private:
  static constexpr std::int64_t size = sizeof(T);

  static constexpr bool counts_blocks(const geometry& g) { return total_sums > 0 && g.blocks() > 1; }
  static TENURE_KERNEL_INLINE constexpr bool splits_rows(const geometry& g) { return may_split_rows && g.tiles > 1; }

  struct memory_layout {
    std::int64_t scratch, totals, columns, tiles, end;  // bytes
  };

  /// The groups of instructions that run together in a pass or a phase.
  enum class part { loads, computes, stores, row_values, row_stores, row_sums, column_sums, totals };

  static constexpr bool is_in(part what, int pass, int i) {
    const auto& x = at(i);
    const bool runs = (x.passes >> pass & 1) != 0, ran = (x.passes & ((1u << pass) - 1)) != 0;
    switch (what) {
      case part::loads: return runs && (keeps(i) ? ran : x.what == kind::load);
      case part::computes: return runs && (keeps(i) ? !ran : x.what != kind::load && x.what != kind::store && x.what != kind::reduce_columns);
      case part::stores: return runs && (keeps(i) ? !ran : x.what == kind::store || x.what == kind::reduce_columns);
      case part::row_values: return x.row && x.phase == pass && x.what != kind::reduce_row && x.what != kind::store;
      case part::row_stores: return x.row && x.what == kind::store;
      case part::row_sums: return runs && x.what == kind::reduce_row;
      case part::column_sums: return x.what == kind::reduce_columns;
      case part::totals: return x.what == kind::reduce_all;
    }
    return false;
  }
  /// A group as a sequence of instruction numbers. A loop over all instructions with a test would instantiate a function for each
  /// instruction outside the group too, and nvcc took seconds for those.
  template <part What, int Pass>
  struct selection {
    struct list {
      int count = 0, at[slots] = {};
    };
    static constexpr list chosen = [] {
      list l;
      for (int i = 0; i < record::instructions; ++i)
        if (is_in(What, Pass, i)) l.at[l.count++] = i;
      return l;
    }();
    template <int... J>
    static constexpr std::integer_sequence<int, chosen.at[J]...> sequence(std::integer_sequence<int, J...>);
    using type = decltype(sequence(std::make_integer_sequence<int, chosen.count>{}));
  };
  template <part What, int Pass = 0>
  using those = typename selection<What, Pass>::type;
  using stream_indices = std::make_integer_sequence<int, record::accesses>;

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

  template <std::int64_t Word>
  static TENURE_KERNEL_INLINE std::int64_t number(const arguments& args) {
    if constexpr (is_dynamic(Word)) return args.number[Word - program_detail::first_dynamic];
    else return Word;
  }
  template <int D>
  static TENURE_KERNEL_INLINE std::int64_t extent(const arguments& args) { return number<k.extent[D]>(args); }
  template <int A, int D>
  static TENURE_KERNEL_INLINE std::int64_t stride(const arguments& args) { return number<k.access[A].stride[D]>(args); }
  /// The position that a counting access has at an offset.
  template <int A>
  static TENURE_KERNEL_INLINE std::int64_t position_at(const arguments& args, const std::int64_t* offset) { return number<k.access[A].start>(args) + offset[A]; }

  template <int D, int... A>
  static TENURE_KERNEL_INLINE void move(const arguments& args, std::int64_t* offset, std::int64_t by, std::integer_sequence<int, A...>) {
    ((offset[A] += by * stride<A, D>(args)), ...);
  }

  struct alignas(sizeof(T) * lanes) run_of_lanes {
    T at[lanes];
  };
  /// The place of a thread's packet in a step, for the first kept slot.
  static TENURE_KERNEL_INLINE T* scratch_at(const arguments& args, T* scratch, int thread, std::int64_t step) {
    return scratch + (step * args.shape.threads + thread) * lanes;
  }
  /// The same for another slot. It is aligned even if the operands are not.
  static TENURE_KERNEL_INLINE run_of_lanes& run_at(const arguments& args, T* of_first, int slot) {
    return *reinterpret_cast<run_of_lanes*>(of_first + slot * (args.shape.packet_steps * lanes * args.shape.threads));
  }

  /// True if the type of access A allows a packet: its elements have type T and may be neighbours in memory.
  template <int A>
  static constexpr bool is_run = lanes > 1 && k.access[A].type == record::lane && (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] == 1);

  static TENURE_KERNEL_INLINE bool is_whole(const T* first, int n) { return n == lanes && reinterpret_cast<std::uintptr_t>(first) % sizeof(run_of_lanes) == 0; }

  struct none {};

  // ---- reductions ----

  template <std::int64_t Kind>
  static TENURE_KERNEL_INLINE T combined(T a, T b) { return ops::combine<static_cast<ir::reduction>(Kind)>(a, b); }
  template <std::int64_t Kind>
  static TENURE_KERNEL constexpr T identity() { return ops::identity<static_cast<ir::reduction>(Kind), T>(); }

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
  template <int I>
  static TENURE_KERNEL_INLINE void read(const arguments& args, const place& p, packet_state& e);
  template <int Slot>
  static TENURE_KERNEL_INLINE auto operand(const thread_state& t, const packet_state& e, int l);
  template <int I>
  static TENURE_KERNEL_INLINE void element(thread_state& t, const place& p, packet_state& e, int l);
  template <int I>
  static TENURE_KERNEL_INLINE void write(const arguments& args, const thread_state& t, const place& p, const packet_state& e);
  template <ir::opcode Op, bool IsMask, class A, class B, class C>
  static TENURE_KERNEL_INLINE auto computed(A a, [[maybe_unused]] B b, [[maybe_unused]] C c);

  // ---- the instructions of a row: fused/rows.hpp ----

  template <int... I>
  static TENURE_KERNEL_INLINE void row_phase(const arguments& args, thread_state& t, [[maybe_unused]] bool is_first, std::integer_sequence<int, I...>);
  template <int Slot>
  static TENURE_KERNEL_INLINE auto row_operand(const thread_state& t);
  template <int I>
  static TENURE_KERNEL_INLINE void row_instruction(const arguments& args, thread_state& t, bool is_first);
  template <int... I>
  static TENURE_KERNEL_INLINE void store_row(const arguments& args, const thread_state& t, std::integer_sequence<int, I...>);

  // ---- reductions: fused/reductions.hpp ----

  template <int... I>
  static TENURE_KERNEL_INLINE void begin_sums(thread_state& t, std::integer_sequence<int, I...>);
  template <std::int64_t Kind, class Block>
  static TENURE_KERNEL_INLINE T reduced_across(Block& block, int team, T mine);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void reduce_rows(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold_tiles(Block& block, const arguments& args, thread_state& t, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_columns(Block& block, const arguments& args, const thread_state& t, T* scratch, std::integer_sequence<int, I...>);
  template <std::int64_t Kind>
  static TENURE_KERNEL_INLINE void add_run(run_of_lanes& to, run_of_lanes from);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void fold(Block& block, const arguments& args, std::integer_sequence<int, I...>);
  template <class Block, int... I>
  static TENURE_KERNEL_INLINE void finish_totals(Block& block, const arguments& args, const thread_state& t, std::integer_sequence<int, I...>);
};

}  // namespace tenure::kernels
