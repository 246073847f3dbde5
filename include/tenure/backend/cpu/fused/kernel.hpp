// SPDX-License-Identifier: BSL-1.0
// The class of a fused kernel: the facts that follow from its code, and the declarations of its functions. The functions are in the
// other headers of this folder, one job each.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/fused/arguments.hpp>
#include <tenure/backend/cpu/fused/packet_width.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/program/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::action;
using program_detail::extent_of;
using program_detail::in_pass;
using program_detail::instruction;
using program_detail::is_dynamic;
using program_detail::move_along;
using program_detail::part;
using program_detail::places;
using program_detail::position_of;
using program_detail::stride_of;

/// What a pass knows about the packet that it computes: whether the packet holds the chosen element of the row (one_hot_select.hpp).
enum class at_choice { unknown, elsewhere, there };

template <class Code>
struct fused : program_detail::coded_kernel<Code> {
  using base = program_detail::coded_kernel<Code>;
  using record = typename base::record;
  using T = typename base::T;
  using row_state = typename base::row_state;
  using stream_indices = typename base::stream_indices;
  using base::k, base::last, base::slots, base::streams, base::number_count;
  // A static row that is shorter than a register uses a narrower packet and fills it. After a masked store the next step would have to
  // wait until the store buffer has written the row.
  using P = packet_filled_by<math::packet_of<T>, k.extent[last]>;
  using M = math::mask_of<P>;
  static constexpr int lanes = math::width<P>;
  // A load or store of the first n lanes (also n = 0) takes as long as a load or store of all lanes.
  static constexpr bool masks_are_free = math::is_512<P>;

  // If one register holds the results of all columns, these stay in it from row to row. Otherwise each row reads and writes the results.
  static constexpr bool columns_in_registers = record::inner == 1 && !is_dynamic(k.extent[last]) && k.extent[last] <= lanes;

  struct position {
    std::int64_t offset[streams];
  };
  struct element_state {
    P value[slots];
    M mask[slots];
  };
  struct sums {
    P packet[slots][costs::max_ways];
    T scalar[slots];
  };

  // The arguments in local variables. Arguments behind a pointer would be loaded again for every packet, because the compiler must assume
  // that a store of an element changes them.
  struct local_arguments {
    void* pointer[streams];
    std::int64_t number[base::numbers];
    bool bypasses_caches = false;  // true if stores of full packets bypass the caches
    T* collected = nullptr;        // memory for the rows of a packet of samples
  };

  TENURE_FLATTEN static TENURE_INLINE void run(const kernel_arguments& given);

  /// True if the kernel may run in blocks. Then a row_producer may compute rows before each block.
  static constexpr bool runs_in_blocks() { return is_cut; }
  /// True if the kernel may use non-temporal stores when its data does not fit into the caches.
  static constexpr bool stores_non_temporal() { return may_bypass_caches; }

  /// True if run_iterations can run a loop whose body is this kernel.
  template <class Loop>
  static constexpr bool may_run_iterations();
  /// All iterations of a loop whose body is this kernel, with the carries in registers: fused/iterations.hpp.
  template <class Loop>
  TENURE_FLATTEN static void run_iterations(const kernel_arguments& given, const Loop& loop);

 private:
  using kind = instruction::kind;
  using base::at, base::count_of, base::rank_of;
  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;
  template <int I>
  using operands_of = typename base::template operands_of<I>;
  // The reductions that stay in registers from row to row.
  static constexpr part accumulated = columns_in_registers ? part::totals_and_columns : part::totals;

  // ---- facts about reductions, rows and blocks ----

  static constexpr bool reduces_columns = count_of(kind::reduce_columns) > 0;
  /// Whether rows are added up, in columns or in totals. Many rows are the sum of parts, see costs::rows_of_part.
  static constexpr bool adds_rows = [] {
    bool any = false;
    for (int i = 0; i < record::instructions; ++i)
      any = any || ((at(i).what == kind::reduce_columns || at(i).what == kind::reduce_all) && at(i).reduction() == ir::reduction::sum);
    return any && record::outer == 1 && std::is_floating_point_v<T>;
  }();

  /// Whether the sums of the row are totals: the kernel has only one row, and no element needs these sums. Then the instructions that use the sums run
  /// once, after the last block.
  static constexpr bool sums_are_totals = [] {
    bool any = false, is_simple = record::outer == 0 && record::inner == 1 && record::passes == 1;
    for (int i = 0; i < record::instructions; ++i) {
      any = any || at(i).what == kind::reduce_row;
      is_simple = is_simple && at(i).what != kind::reduce_columns && !(at(i).row && at(i).what == kind::reduce_all);
    }
    return any && is_simple;
  }();
  static constexpr int total_count = count_of(kind::reduce_all) + (sums_are_totals ? count_of(kind::reduce_row) : 0);
  static constexpr int max_totals = total_count > 0 ? total_count : 1;
  static constexpr int total_of(int i) { return rank_of(i) + (at(i).what == kind::reduce_row ? count_of(kind::reduce_all) : 0); }

  /// The number of leading dimensions that blocks may cut. A row may be cut if the only reductions are over all elements. If a row
  /// has its own results, it must be the only row, and the first block writes these results.
  static constexpr int cuts = [] {
    bool row = record::inner > 1;
    for (int i = 0; i < record::instructions; ++i) {
      const kind what = at(i).what;
      const bool has_result = (at(i).row && what == kind::reduce_all) || (at(i).stores_row() && record::outer > 0);
      row = row || (what == kind::reduce_row && !sums_are_totals) || what == kind::reduce_columns || has_result;
    }
    const int n = record::outer + (row ? 0 : 1);
    return n < 2 ? n : 2;
  }();
  static constexpr bool is_cut = [] {
    std::int64_t work = record::instructions;
    for (int d = 0; d < record::rank; ++d) work = is_dynamic(k.extent[d]) ? costs::min_cut_work : k.extent[d] == 0 ? 0 : work * k.extent[d];
    return cuts > 0 && work >= costs::min_cut_work;
  }();
  // memory_plan does not know the code. It assumes that the shape alone decides which dimensions are cut.
  static_assert((!reduces_columns && base::kept_rows == 0) || cuts == (record::outer < 2 ? record::outer : 2));
  static std::int64_t value_of(const local_arguments& args, std::int64_t word) {
    return is_dynamic(word) ? args.number[word - program_detail::first_dynamic] : word;
  }

  // ---- packets that are interleaved: fused/interleaved.hpp ----

  static constexpr int ways(int pass);
  static constexpr int uses_of(int i, int pass);
  static constexpr ops::effort effort_of(int i);
  static constexpr int longest_chain(int pass);
  template <int Pass>
  static constexpr bool has_long_chain = longest_chain(Pass) >= costs::long_chain;
  static constexpr int in_group(int pass);

  // ---- stores that bypass the caches: fused/non_temporal.hpp ----

  struct transposition;  // fused/transposed.hpp
  static constexpr bool covers(int a);
  static constexpr bool writes_non_temporal(int a);
  static constexpr bool waits_for_memory();
  static constexpr int covering = [] {
    int n = 0;
    for (int a = 0; a < record::accesses; ++a) n += covers(a) || transposition::is_dense(a);
    return n;
  }();
  static constexpr int collected_numbers = [] { return transposition::collected * lanes; }();
  // Only a kernel of one pass may: with more passes, an earlier pass fetches the lines that a later pass stores (prefetch_stores).
  static constexpr bool may_bypass_caches = [] {
    std::int64_t bytes = covering * static_cast<std::int64_t>(sizeof(T));
    bool stores = waits_for_memory(), is_known = true;
    for (int d = 0; d < record::rank; ++d) is_dynamic(k.extent[d]) ? is_known = false : bytes *= k.extent[d];
    return math::can_stream<P> && record::passes == 1 && stores && (!is_known || bytes >= costs::cached_bytes);
  }();
  static bool gains_by_bypassing(const local_arguments& args);

  // ---- blocks: fused/blocks.hpp ----

  struct whole;
  struct block_range;
  struct blocks;
  static void run_block(const local_arguments& given, const block_range& range, T* totals);
  static void add_block(T* totals, const T* of_block);
  static void end_blocks(const local_arguments& args, const T* totals);
  static void run_blocks(const local_arguments& args, const kernel_arguments& given);
  static void run_many_blocks(const local_arguments& args, const kernel_arguments& given, const std::int64_t* extents);

  // ---- the loop nest: fused/loops.hpp ----

  template <class Range>
  TENURE_FLATTEN static TENURE_LAYER void run_range(const local_arguments& args, const Range& range, T* totals);
  template <int D, class Range>
  static TENURE_LAYER void walk(const local_arguments& args, const Range& range, position p, sums& total);
  template <class Range>
  static TENURE_LAYER void row(const local_arguments& args, const Range& range, const position& p, sums& total);
  static TENURE_LAYER void part_of_row(const local_arguments& args, const block_range& range, const position& p, sums& total);
  static constexpr int mask_of_sums(int pass);
  template <int Pass>
  static TENURE_LAYER bool has_work(const row_state& r);
  template <int Pass, class Range>
  static TENURE_LAYER void row_passes(const local_arguments& args, const Range& range, const position& p, row_state& r, sums& total);
  template <int Pass, int D, class Range>
  static TENURE_LAYER void walk_row(const local_arguments& args, const Range& range, position p, const row_state& r, sums& total);
  template <int Pass, at_choice Choice>
  static TENURE_LAYER void walk_packets(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                        std::int64_t i, std::int64_t n);
  static constexpr std::int64_t segment = costs::elements_of_part;
  template <int Pass>
  static constexpr bool adds_segments = std::is_floating_point_v<T> && those<part::sums, Pass>::size() > 0 && (is_dynamic(k.extent[last]) || k.extent[last] > segment);
  template <int Pass, at_choice Choice>
  static TENURE_LAYER void walk_segment(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                        std::int64_t i, std::int64_t n);
  template <int... I>
  static TENURE_LAYER void end_segment(sums& total, sums& of_row, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void take_segments(sums& total, const sums& of_row, std::integer_sequence<int, I...>);

  // ---- all iterations of a loop: fused/iterations.hpp ----

  template <class Loop>
  static constexpr bool varies_by_row();
  static constexpr int max_packets_per_iteration = lanes > 1 ? costs::packets_of_iteration : 1;
  static constexpr int packets_per_iteration(std::int64_t elements) {
    const std::int64_t packets = (elements + lanes - 1) / lanes;
    return packets < 1 ? 1 : packets < costs::packets_of_iteration ? static_cast<int>(packets) : costs::packets_of_iteration;
  }
  template <class Loop>
  static constexpr int packets_per_iteration();
  template <class Loop, int Sure, int... W>
  static TENURE_LAYER void run_packets(const local_arguments& given, const Loop& loop, std::int64_t first, std::int64_t n, std::integer_sequence<int, W...>);
  template <class Loop, bool Full, bool Prepares, int I>
  static TENURE_LAYER void in_iteration(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& none, const P* carried,
                                   P* next, std::int64_t i, int n);

  // ---- the chosen element of a row: fused/one_hot_select.hpp ----

  static constexpr bool counts_elements(int i);
  static constexpr bool is_choice(int i);
  static constexpr int choice_of(int pass);
  static constexpr bool is_zero_elsewhere(int i);
  static constexpr bool is_sum_of_chosen(int i);
  /// The slots whose values depend on a choice.
  static constexpr auto decided = [] {
    struct { bool at[slots] = {}; } d;
    for (int i = 0; i < record::instructions; ++i) {
      d.at[i] = is_choice(i);
      if (at(i).what == kind::compute || at(i).what == kind::store)
        for (const int from : at(i).in) d.at[i] = d.at[i] || (from >= 0 && d.at[from]);
    }
    return d;
  }();
  static constexpr bool chooses(int pass);
  template <int Pass>
  static TENURE_LAYER std::int64_t chosen_packet(const local_arguments& args, const position& p, const row_state& r, std::int64_t begin,
                                                 std::int64_t end);
  template <int Pass, int... I>
  static TENURE_LAYER void choose(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                  std::int64_t i, int n, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void store_chosen(const local_arguments& args, const position& p, const row_state& r, const element_state& e,
                                        std::int64_t i, int n, std::integer_sequence<int, I...>);

  // ---- several rows that are added to the columns at a time: fused/loops.hpp ----

  static constexpr int max_rows = costs::rows_added_at_once;
  /// Whether a kernel does nothing else, and computes little for it.
  static constexpr bool adds_several_rows = [] {
    bool only_adds = reduces_columns && !columns_in_registers && record::passes == 1 && record::inner == 1 && record::outer > 0 && in_group(0) == 1 && !chooses(0);
    int work = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = at(i);
      const bool adds = x.what == kind::reduce_columns && !x.row, computes = x.what == kind::compute && !x.is_kept();
      only_adds = only_adds && (adds || computes || x.what == kind::constant || x.what == kind::load) && !(x.row && x.phase > 0);
      if (computes && !x.row) work += ops::instructions_of(effort_of(i));
    }
    return only_adds && work <= costs::work_of_added_rows;
  }();
  template <int Rows>
  static TENURE_LAYER void add_rows(const local_arguments& args, const position& first, sums& total);
  template <int Rows, bool Partial>
  static TENURE_LAYER void add_packets(const local_arguments& args, const position* p, const row_state* r, sums& total, std::int64_t i, int n);
  template <bool Partial, int... I>
  static TENURE_LAYER void load_columns(const local_arguments& args, sums& total, std::int64_t i, int n, std::integer_sequence<int, I...>);
  template <bool Partial, int... I>
  static TENURE_LAYER void store_columns(const local_arguments& args, const sums& total, std::int64_t i, int n, std::integer_sequence<int, I...>);

  // ---- the instructions of a packet: fused/elements.hpp ----

  template <int Pass, at_choice Choice, bool Partial, int Way, int... I>
  static TENURE_LAYER void elements(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                     std::int64_t i, int n, std::integer_sequence<int, I...>);
  static constexpr int of_one_fold = 128;  // clang refuses folds of more than 256 operands
  template <int Pass, at_choice Choice, bool Partial, int Way, int First, int... J>
  static TENURE_LAYER void some_elements(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                    std::int64_t i, int n, std::integer_sequence<int, J...>);
  template <int Pass, int I>
  static TENURE_LAYER void stay_in_order(element_state& e);
  template <int Pass, int I, int... Packet>
  static TENURE_LAYER void each_of_group(const local_arguments& args, const position& p, const row_state& r, element_state* e, sums& total,
                                         std::int64_t i, std::integer_sequence<int, Packet...>);
  template <int Pass, int Packets, int First, int... J>
  static TENURE_LAYER void some_of_group(const local_arguments& args, const position& p, const row_state& r, element_state* e, sums& total,
                                         std::int64_t i, std::integer_sequence<int, J...>);
  template <int Pass, int Packets, int... I>
  static TENURE_LAYER void group(const local_arguments& args, const position& p, const row_state& r, sums& total, std::int64_t i,
                                 std::integer_sequence<int, I...>);
  template <int Slot>
  static TENURE_LAYER auto read(const row_state& r, const element_state& e);
  template <int Pass, at_choice Choice, bool Partial, int Way, int I>
  static TENURE_LAYER void element(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                    std::int64_t i, int n);
  template <int Pass>
  static TENURE_LAYER void prefetch(const local_arguments& args, const position& p, std::int64_t i);
  template <int... I>
  static TENURE_LAYER void prefetch_stores(const local_arguments& args, const position& p, std::int64_t i, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void prefetch_next_row(const local_arguments& args, const position& p, std::int64_t i, std::integer_sequence<int, I...>);
  template <int Pass, at_choice Choice, int I, int... K>
  static TENURE_LAYER auto compute(const row_state& r, const element_state& e, places<K...>);

  // ---- rows of neighbouring numbers, transposed in registers: fused/transposed.hpp ----

  static constexpr bool may_transpose = [] {
    bool any = false;
    for (int a = 0; a < record::accesses; ++a) any = any || k.access[a].neighbour >= 0;
    return any && math::can_transpose<P> && record::passes == 1;
  }();
  template <int B>
  static TENURE_LAYER T* block_at(const local_arguments& args, const position& p, std::int64_t i);
  template <int B, int... L>
  static TENURE_LAYER void load_block(const local_arguments& args, const position& p, element_state& e, std::int64_t i, std::integer_sequence<int, L...>);
  template <int B, int... L>
  static TENURE_LAYER void store_block(const local_arguments& args, const position& p, const row_state& r, const element_state& e, std::int64_t i,
                                       std::integer_sequence<int, L...>);
  template <int I, int... K>
  static TENURE_LAYER void move_blocks(const local_arguments& args, const position& p, const row_state& r, element_state& e, std::int64_t i,
                                       std::integer_sequence<int, K...>);
  template <int... R>
  static TENURE_LAYER void stream_rows(const local_arguments& args, std::int64_t i, std::integer_sequence<int, R...>);

  // ---- loads and stores of packets: fused/memory.hpp ----

  template <int Way = 0>
  static TENURE_LAYER P lane_index();
  template <int A, bool Partial, int Way>
  static TENURE_LAYER P load(const local_arguments& args, const position& p, std::int64_t i, int n);
  template <int A, bool Partial>
  static TENURE_LAYER M load_mask(const local_arguments& args, const position& p, std::int64_t i, int n);
  template <int A, bool Partial>
  static TENURE_LAYER void store(const local_arguments& args, const position& p, P v, std::int64_t i, int n);
  template <int A>
  static TENURE_LAYER void store_mask(const local_arguments& args, const position& p, M m, std::int64_t i, int n);

  // ---- the instructions of a row: fused/rows.hpp ----

  template <int... I>
  static TENURE_LAYER void row_phase(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...>);

  // ---- reductions: fused/reductions.hpp ----

  template <int I>
  static TENURE_LAYER T* result_of(const local_arguments& args) { return static_cast<T*>(args.pointer[at(I).access]); }
  static constexpr int ways_of(int i) { return at(i).row && at(i).what == kind::reduce_all ? 1 : ways(std::countr_zero(at(i).passes)); }
  // across() and start() name each accumulator, because clang keeps an array in registers only if no loop indexes the array.
  static_assert(costs::max_ways == 4);
  template <int I>
  static TENURE_LAYER T across(const sums& total);
  template <int I>
  static TENURE_LAYER void start(sums& total);
  template <int... I>
  static TENURE_LAYER void start_all(sums& total, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void finish_row(row_state& r, const sums& total, std::integer_sequence<int, I...>);
  template <int I>
  static TENURE_LAYER void finish_one(const local_arguments& args, const sums& total, T* totals);
  template <int... I>
  static TENURE_LAYER void finish(const local_arguments& args, const sums& total, [[maybe_unused]] T* totals, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void add_totals([[maybe_unused]] T* to, [[maybe_unused]] const T* from, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void take_totals([[maybe_unused]] row_state& r, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void write_totals(const local_arguments& args, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>);
  template <int... I>
  static TENURE_LAYER void start_columns(const local_arguments& args, std::integer_sequence<int, I...>);
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
