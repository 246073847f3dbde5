// SPDX-License-Identifier: BSL-1.0
// A fused kernel on the CPU: the loop nest that a code describes, packets along the last dimension, every intermediate in
// a register. Tails are partial packets of the same instructions, so an element's result does not depend on its position.
// Large kernels run in blocks (blocks.hpp), whose reductions are put together in their order.
// Cost: one load an input, one store an output, nothing else touches memory but columns of a block.
#pragma once

#include <algorithm>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/core/config.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/ops/combine.hpp>
#include <tenure/program/decode.hpp>

// A vector register type loses its alignment attribute as a template argument, which is harmless, and g++ says so. It also
// warns of passing on a state of which not every slot is written; each slot is written before it is read.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using passes::instruction;
using program_detail::is_dynamic;

/// What a kernel runs on: one pointer an access (for a counting access, its offset as a number), the run-time numbers, and
/// memory for the columns and rows that its blocks keep (kernel_memory).
struct kernel_arguments {
  void* const* pointer;
  const std::int64_t* number;
  void* scratch;
  executor* on = nullptr;            // where its blocks run; null: on this thread
  const row_source* rows = nullptr;  // of a kernel that is cut: what comes before each block
};

/// Bytes that the blocks of a kernel keep beside the results: columns of the blocks, and rows of the workers.
struct kernel_memory {
  std::int64_t alone = 0;                      // on one thread: the columns of one block, which are added before the next begins
  std::int64_t on_threads = 0, of_helper = 0;  // on several: the columns of all blocks but one, and the rows of each worker but one

  /// `columns`: elements of a row; `sums`: how many reductions over rows; `kept`: how many rows stay for a later pass.
  constexpr kernel_memory(std::int64_t blocks, std::int64_t columns, int sums, int kept, std::int64_t element_size) {
    if (blocks < 2) return;
    alone = sums * columns * element_size;
    on_threads = (blocks - 1) * alone;
    of_helper = kept * columns * element_size;
  }
};

/// P, or the narrower packet whose lanes divide a row of n elements where n is less than the lanes of P.
template <class P, std::int64_t N>
constexpr auto packet_filling() {
  constexpr int lanes = math::width<P>;
  if constexpr (lanes == 1 || N <= 0 || N >= lanes) return P{};
  else if constexpr (N == 1) return math::scalar_of<P>{};
  else {
    using half = typename Eigen::internal::unpacket_traits<P>::half;
    if constexpr (math::width<half> == lanes || N > math::width<half>) return P{};
    else return packet_filling<half, N>();
  }
}
template <class P, std::int64_t N>
using packet_filled_by = decltype(packet_filling<P, N>());

template <class Code>
struct fused {
  using record = program_detail::decoded<Code>;
  static constexpr record k{};
  using T = element_of_t<record::lane>;
  static constexpr int last = record::rank - 1;
  // A static row shorter than a register takes the packet that it fills: what one step writes through a mask the next
  // could not read before it has left the store buffer.
  using P = packet_filled_by<math::packet_of<T>, k.extent[last]>;
  using M = math::mask_of<P>;
  static constexpr int lanes = math::width<P>;
  static constexpr int slots = record::instructions > 0 ? record::instructions : 1;
  static constexpr int streams = record::accesses > 0 ? record::accesses : 1;
  // A short pass that reduces is bound by the latency of its accumulators, one that counts by the conversion of its position:
  // several packets at a time, each with an accumulator of its own.
  static constexpr int most_ways = 4;
  static constexpr int ways(int pass) {
    int work = 0, gains = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const program_detail::decoded_instruction& x = k.instruction[i];
      if ((x.passes >> pass & 1) == 0) continue;
      if (x.what == instruction::kind::compute) ++work;
      if (x.what == instruction::kind::reduce_row || x.what == instruction::kind::reduce_all) ++gains;
      if (x.what == instruction::kind::load && k.access[x.access].counting) ++gains;
    }
    return gains > 0 && work <= 6 && lanes > 1 ? most_ways : 1;
  }

  /// How many instructions of a pass read slot i.
  static constexpr int uses_of(int i, int pass) {
    int n = 0;
    for (int j = i + 1; j < record::instructions; ++j)
      if (k.instruction[j].passes >> pass & 1)
        for (const int from : k.instruction[j].in) n += from == i;
    return n;
  }

  // A long chain of functions is bound by its latency, more than a processor looks ahead: two packets go through it side by side.
  static constexpr bool takes_pairs(int pass) {
    int depth[slots], most = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const program_detail::decoded_instruction& x = k.instruction[i];
      depth[i] = 0;
      if ((x.passes >> pass & 1) == 0) continue;
      if (x.what != instruction::kind::compute && x.what != instruction::kind::load && x.what != instruction::kind::store) return false;
      for (const int from : x.in)
        if (from >= 0 && depth[from] > depth[i]) depth[i] = depth[from];
      const bool is_function = x.what == instruction::kind::compute && ops::is_pointwise(x.op) && ops::record_of(x.op).types == ops::typing::floating;
      if (is_function && ++depth[i] > most) most = depth[i];
    }
    return most >= 4 && lanes > 1;
  }

  // Results of columns that one register holds stay there from row to row; others are read and written again for every row.
  static constexpr bool columns_in_registers = record::inner == 1 && !is_dynamic(k.extent[last]) && k.extent[last] <= lanes;

  // Run-time numbers stand in the order in which the code spells them.
  static constexpr int number_count = [] {
    std::int64_t n = 0;
    const auto see = [&](std::int64_t word) {
      if (is_dynamic(word) && word - program_detail::first_dynamic >= n) n = word - program_detail::first_dynamic + 1;
    };
    for (int d = 0; d < record::rank; ++d) {
      see(k.extent[d]);
      for (int a = 0; a < record::accesses; ++a) see(k.access[a].stride[d]);
    }
    return static_cast<int>(n);
  }();
  static constexpr int numbers = number_count > 0 ? number_count : 1;

  struct position {
    std::int64_t offset[streams];
  };
  struct row_state {
    T value[slots];
    bool mask[slots];
  };
  struct element_state {
    P value[slots];
    M mask[slots];
  };
  struct sums {
    P packet[slots][most_ways];
    T scalar[slots];
  };

  // The arguments in local variables: stores of elements could change what lies behind pointers, so the compiler would load
  // those again for every packet.
  struct local_arguments {
    void* pointer[streams];
    std::int64_t number[numbers];
    bool bypasses_caches = false;  // do full packets that are stored?
  };

  TENURE_FLATTEN static TENURE_INLINE void run(const kernel_arguments& given) {
    local_arguments args;
    for (int a = 0; a < record::accesses; ++a) args.pointer[a] = given.pointer[a];
    for (int i = 0; i < number_count; ++i) args.number[i] = given.number[i];
    if constexpr (is_cut) {
      run_blocks(args, given);
    } else {
      T totals[most_totals];
      if constexpr (may_bypass_caches) args.bypasses_caches = gains_by_bypassing(args);
      run_range(args, whole{}, totals);
      if constexpr (may_bypass_caches)
        if (args.bypasses_caches) math::end_of_streams();
      write_totals(args, totals, instructions_of<part::total>{});
    }
  }

  /// May it run in blocks, and then after the rows of a row_source?
  static constexpr bool runs_in_blocks() { return is_cut; }
  /// May it store past the caches, where it runs over more than they hold?
  static constexpr bool stores_past_caches() { return may_bypass_caches; }

 private:
  using kind = instruction::kind;
  static constexpr const program_detail::decoded_instruction& at(int i) { return k.instruction[i]; }

  // The parts of the loop nest, each expanded for the instructions that it concerns and no others: what is expanded to
  // nothing still costs compile time.
  enum class part { element, row, row_sum, total, column, accumulated };
  template <part Part, int Pass = 0>
  struct concerned {
    static constexpr bool has(int i) {
      const program_detail::decoded_instruction& x = at(i);
      const bool in_pass = x.passes >> Pass & 1;
      switch (Part) {
        case part::element: return in_pass;
        case part::row: return x.row && x.phase == Pass && x.what != kind::reduce_row;
        case part::row_sum: return in_pass && x.what == kind::reduce_row;
        case part::total: return is_total(i);
        case part::column: return x.what == kind::reduce_columns;
        case part::accumulated: return is_total(i) || (x.what == kind::reduce_columns && columns_in_registers);
      }
      return false;  // for nvcc
    }
    static constexpr int count = [] {
      int n = 0;
      for (int i = 0; i < record::instructions; ++i) n += has(i);
      return n;
    }();
    static constexpr auto list = [] {
      struct { int at[count > 0 ? count : 1]; } found{};
      for (int i = 0, n = 0; i < record::instructions; ++i)
        if (has(i)) found.at[n++] = i;
      return found;
    }();
    template <int... J>
    static auto listed(std::integer_sequence<int, J...>) -> std::integer_sequence<int, list.at[J]...>;
    using type = decltype(listed(std::make_integer_sequence<int, count>{}));
  };
  template <part Part, int Pass = 0>
  using instructions_of = typename concerned<Part, Pass>::type;

  /// Is it known of a row's chosen element (below) whether a packet holds it?
  enum class at_choice { unknown, elsewhere, there };

  // ---- blocks ----

  static constexpr int count_of(kind what) {
    int n = 0;
    for (int i = 0; i < record::instructions; ++i) n += at(i).what == what;
    return n;
  }
  static constexpr bool is_total(int i) { return at(i).what == kind::reduce_all; }
  static constexpr int number_of_total(int i) {
    int n = 0;
    for (int j = 0; j < i; ++j) n += is_total(j);
    return n;
  }
  static constexpr int most_totals = count_of(kind::reduce_all) > 0 ? count_of(kind::reduce_all) : 1;
  static constexpr bool has_totals = count_of(kind::reduce_all) > 0;
  static constexpr bool reduces_columns = count_of(kind::reduce_columns) > 0;
  static constexpr bool keeps_row(int i) { return at(i).what == kind::compute && at(i).access >= 0; }
  static constexpr bool stores_row(int i) { return at(i).what == kind::store && at(i).row; }
  static constexpr int rows_kept = [] {
    int n = 0;
    for (int i = 0; i < record::instructions; ++i) n += keeps_row(i);
    return n;
  }();

  /// The leading dimensions that blocks may cut. A row is cut where nothing is reduced but over all elements; with results of its
  /// own if it is the only one, whose first block writes them.
  static constexpr int cuts = [] {
    bool row = record::inner > 1;
    for (int i = 0; i < record::instructions; ++i) {
      const kind what = at(i).what;
      row = row || what == kind::reduce_row || what == kind::reduce_columns || (at(i).row && what == kind::reduce_all) || (stores_row(i) && record::outer > 0);
    }
    const int n = record::outer + (row ? 0 : 1);
    return n < 2 ? n : 2;
  }();
  static constexpr bool is_cut = [] {
    std::int64_t work = record::instructions;
    for (int d = 0; d < record::rank; ++d) work = is_dynamic(k.extent[d]) ? 2 * block_work : k.extent[d] == 0 ? 0 : work * k.extent[d];
    return cuts > 0 && work >= 2 * block_work;
  }();

  /// All of the kernel, or a block of it: where loops over the leading dimensions begin and end.
  struct whole {
    template <int D>
    static TENURE_LAYER std::int64_t begin() { return 0; }
    template <int D>
    static TENURE_LAYER std::int64_t end(const local_arguments& args) { return extent<D>(args); }
  };
  struct block_range {
    std::int64_t first[2], last[2];
    template <int D>
    TENURE_LAYER std::int64_t begin() const {
      if constexpr (D < cuts) return first[D];
      else return 0;
    }
    template <int D>
    TENURE_LAYER std::int64_t end(const local_arguments& args) const {
      if constexpr (D < cuts) return last[D];
      else return extent<D>(args);
    }
  };

  /// The kernel over a range; totals get one number a reduction over all elements.
  template <class Range>
  TENURE_FLATTEN static TENURE_LAYER void run_range(const local_arguments& args, const Range& range, T* totals) {
    sums total;
    start_all(total, instructions_of<part::accumulated>{});
    position start{};
    if constexpr (!columns_in_registers) start_columns(args, instructions_of<part::column>{});
    walk<0>(args, range, start, total);
    finish(args, total, totals, instructions_of<part::accumulated>{});
  }

  struct blocks {
    local_arguments args;
    block_grid grid;
    std::int64_t extent[2];
    std::int64_t columns = 0;    // of a row
    T* column_memory = nullptr;  // of the blocks but the first, which has the results themselves
    std::int64_t column_step = 0;
    T* row_memory = nullptr;  // of the workers but the first
    const row_source* rows = nullptr;
    T totals[most_grid_blocks][most_totals];

    // Not inlined: the loops are compiled once, for one thread and for many.
    TENURE_FLATTEN [[gnu::noinline]] static void run(void* context, int b, int worker) {
      auto& all = *static_cast<blocks*>(context);
      local_arguments args = all.args;
      if constexpr (reduces_columns)
        if (b > 0)
          point_to(args, all.column_memory + (b - 1) * all.column_step, all.columns, [](int i) { return at(i).what == kind::reduce_columns; });
      if constexpr (rows_kept > 0)
        if (worker > 0) point_to(args, all.row_memory + (worker - 1) * rows_kept * all.columns, all.columns, keeps_row);
      alignas(8) std::byte unused[8];
      if constexpr (record::outer == 0)
        if (b > 0) point_to(args, unused, 0, stores_row);
      block_range range{};
      for (int d = 0; d < 2; ++d) {
        range.first[d] = all.grid.begin(d, b);
        const std::int64_t end = range.first[d] + all.grid.length[d];
        range.last[d] = end < all.extent[d] ? end : all.extent[d];
      }
      if (all.rows != nullptr) {
        local_arguments pointed = args;  // a copy: what another function has seen the address of would be loaded again for every packet
        all.rows->produce(pointed.pointer, range.first[0], range.last[0], worker);
        args = pointed;
      }
      run_range(args, range, all.totals[has_totals ? b : 0]);
      if constexpr (may_bypass_caches)
        if (args.bypasses_caches) math::end_of_streams();
    }

    /// Gives the accesses of the chosen instructions memory of their own.
    template <class To, class Chosen>
    static void point_to(local_arguments& args, To* memory, std::int64_t elements, Chosen is_chosen) {
      for (int i = 0; i < record::instructions; ++i)
        if (is_chosen(i)) args.pointer[at(i).access] = memory, memory += elements;
    }

    /// Adds the columns of block b > 0 to the results.
    void add_columns(int b) {
      const T* column = column_memory + (b - 1) * column_step;
      [&]<int... I>(std::integer_sequence<int, I...>) {
        ([&] {
          T* const to = target<I>(args);
          for (std::int64_t j = 0; j < columns; ++j) to[j] = combine<at(I).bits>(to[j], column[j]);
          column += columns;
        }(), ...);
      }(instructions_of<part::column>{});
    }
  };
  // Memory is planned where the code is not known (memory_plan), so what is cut there follows from the shape.
  static_assert((!reduces_columns && rows_kept == 0) || cuts == (record::outer < 2 ? record::outer : 2));

  static void run_blocks(const local_arguments& args, const kernel_arguments& given) {
    const row_source* const source = given.rows;
    std::int64_t extents[record::rank], columns = 1, elements = 1;
    [&]<int... D>(std::integer_sequence<int, D...>) { ((extents[D] = extent<D>(args)), ...); }(std::make_integer_sequence<int, record::rank>{});
    for (int d = record::outer; d < record::rank; ++d) columns *= extents[d];
    for (const std::int64_t e : extents) elements *= e;
    blocks all;
    for (T& t : all.totals[0]) t = T(0);  // g++ cannot tell that there is a block
    all.args = args;
    if constexpr (may_bypass_caches) all.args.bypasses_caches = source == nullptr && gains_by_bypassing(args);
    all.rows = source;
    all.grid = source != nullptr ? source->grid(extents[0], extents[1 < record::rank ? 1 : 0])
                                 : cut_of_kernel(extents, record::outer, record::inner, cuts, record::instructions, reduces_columns);
    for (int d = 0; d < 2; ++d) all.extent[d] = d < cuts ? extents[d] : 0;
    all.columns = columns;
    all.column_memory = static_cast<T*>(given.scratch);
    const int count = all.grid.count();
    // With rows to produce there is a product in front, which is large.
    const bool is_worth_it = count > 1 && given.on != nullptr && (source != nullptr || given.on->gains_by(elements * record::instructions));
    executor* const on = is_worth_it ? given.on : nullptr;
    if (on == nullptr) {
      for (int b = 0; b < count; ++b) {
        blocks::run(&all, b, 0);
        if (b > 0) all.add_columns(b);
      }
    } else {
      all.column_step = count_of(kind::reduce_columns) * columns;
      all.row_memory = all.column_memory + (count - 1) * all.column_step;
      on->run(count, &blocks::run, &all);
      for (int b = 1; b < count; ++b) all.add_columns(b);
    }
    if constexpr (has_totals)
      for (int b = 1; b < count; ++b) add_totals(all.totals[0], all.totals[b], instructions_of<part::total>{});
    write_totals(args, all.totals[0], instructions_of<part::total>{});
  }

  // ---- stores that pass the caches by ----

  /// Does access a have an element of its own for each of the iteration space, side by side along a row?
  static constexpr bool covers(int a) {
    const program_detail::decoded_access& x = k.access[a];
    if (x.type != record::lane || x.counting || x.stride[last] != 1) return false;
    for (int d = 0; d < last; ++d)
      if (x.stride[d] == 0) return false;
    return true;
  }
  static constexpr bool writes_past_caches(int a) {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::store && !at(i).row && !at(i).is_mask && at(i).access == a) return covers(a);
    return false;
  }
  static constexpr int covering = [] {
    int n = 0;
    for (int a = 0; a < record::accesses; ++a) n += covers(a);
    return n;
  }();
  // One pass only: what a later pass stores, the one before has fetched (prefetch_stores).
  static constexpr bool may_bypass_caches = [] {
    std::int64_t bytes = covering * static_cast<std::int64_t>(sizeof(T));
    bool stores = false, is_known = true;
    for (int a = 0; a < record::accesses; ++a) stores = stores || writes_past_caches(a);
    for (int d = 0; d < record::rank; ++d) is_dynamic(k.extent[d]) ? is_known = false : bytes *= k.extent[d];
    return math::can_stream<P> && record::passes == 1 && stores && (!is_known || bytes >= cached_bytes);
  }();
  static std::int64_t value_of(const local_arguments& args, std::int64_t word) {
    return is_dynamic(word) ? args.number[word - program_detail::first_dynamic] : word;
  }
  /// Are there enough elements, is all that is stored aligned and in whole lines, and nothing of it read? What was read is in the
  /// cache; a line of which the rest is stored through the cache is fetched again, for each row (25 times slower, AVX2).
  static bool gains_by_bypassing(const local_arguments& args) {
    std::int64_t bytes = covering * static_cast<std::int64_t>(sizeof(T));
    for (int d = 0; d < record::rank; ++d) bytes *= value_of(args, k.extent[d]);
    if (bytes < cached_bytes) return false;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t row = value_of(args, k.extent[last]);
    for (int a = 0; a < record::accesses; ++a) {
      if (!writes_past_caches(a)) continue;
      if (reinterpret_cast<std::uintptr_t>(args.pointer[a]) % sizeof(P) != 0) return false;
      bool in_lines = row % line == 0, is_dense = row % lanes == 0;  // dense: rows go on where the one before ends
      std::int64_t dense = row;
      for (int d = last - 1; d >= 0; --d) {
        const std::int64_t step = value_of(args, k.access[a].stride[d]);
        in_lines = in_lines && step % line == 0;
        is_dense = is_dense && step == dense;
        dense *= value_of(args, k.extent[d]);
      }
      if (last > 0 && !in_lines && !is_dense) return false;
      for (int b = 0; b < record::accesses; ++b)
        if (b != a && args.pointer[b] == args.pointer[a]) return false;
    }
    return true;
  }

  template <std::int64_t Word>
  static TENURE_LAYER std::int64_t number(const local_arguments& args) {
    if constexpr (is_dynamic(Word)) return args.number[Word - program_detail::first_dynamic];
    else return Word;
  }
  template <int D>
  static TENURE_LAYER std::int64_t extent(const local_arguments& args) { return number<k.extent[D]>(args); }
  template <int A, int D>
  static TENURE_LAYER std::int64_t stride(const local_arguments& args) { return number<k.access[A].stride[D]>(args); }

  template <int D, int... A>
  static TENURE_LAYER void advance(const local_arguments& args, position& p, std::integer_sequence<int, A...>, std::int64_t steps = 1) {
    ((p.offset[A] += steps * stride<A, D>(args)), ...);
  }

  // ---- the loop nest ----

  template <int D, class Range>
  static TENURE_LAYER void walk(const local_arguments& args, const Range& range, position p, sums& total) {
    if constexpr (D == record::outer) {
      row(args, range, p, total);
    } else {
      const std::int64_t begin = range.template begin<D>(), n = range.template end<D>(args);
      advance<D>(args, p, std::make_integer_sequence<int, record::accesses>{}, begin);
      for (std::int64_t i = begin; i < n; ++i) {
        walk<D + 1>(args, range, p, total);
        advance<D>(args, p, std::make_integer_sequence<int, record::accesses>{});
      }
    }
  }

  template <class Range>
  static TENURE_LAYER void row(const local_arguments& args, const Range& range, const position& p, sums& total) {
    row_state r;
    row_phase<0>(args, p, r, total, instructions_of<part::row, 0>{});
    row_passes<0>(args, range, p, r, total);
  }

  template <int Pass, class Range>
  static TENURE_LAYER void row_passes(const local_arguments& args, const Range& range, const position& p, row_state& r, sums& total) {
    if constexpr (Pass < record::passes) {
      start_all(total, instructions_of<part::row_sum, Pass>{});
      walk_row<Pass, record::outer>(args, range, p, r, total);
      finish_row(r, total, instructions_of<part::row_sum, Pass>{});
      row_phase<Pass + 1>(args, p, r, total, instructions_of<part::row, Pass + 1>{});
      row_passes<Pass + 1>(args, range, p, r, total);
    }
  }

  template <int Pass, int D, class Range>
  static TENURE_LAYER void walk_row(const local_arguments& args, const Range& range, position p, const row_state& r, sums& total) {
    const std::int64_t n = range.template end<D>(args);
    if constexpr (D < last) {
      for (std::int64_t i = 0; i < n; ++i) {
        walk_row<Pass, D + 1>(args, range, p, r, total);
        advance<D>(args, p, std::make_integer_sequence<int, record::accesses>{});
      }
    } else {
      std::int64_t i = range.template begin<D>();
      if constexpr (chooses(Pass)) {
        element_state chosen;
        const std::int64_t c = chosen_packet<Pass>(args, p, r, i, n);
        const int width = static_cast<int>(n - c < lanes ? n - c : lanes);
        if (c >= 0) choose<Pass>(args, p, r, chosen, total, c, width, instructions_of<part::element, Pass>{});
        walk_packets<Pass, at_choice::elsewhere>(args, p, r, total, i, n);
        // After the loop, which wrote there as elsewhere; computed before it, since a result may lie in the memory of an argument.
        if (c >= 0) store_chosen(args, p, r, chosen, c, width, instructions_of<part::element, Pass>{});
      } else {
        walk_packets<Pass, at_choice::unknown>(args, p, r, total, i, n);
      }
    }
  }

  template <int Pass, at_choice Choice>
  static TENURE_LAYER void walk_packets(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                        std::int64_t i, std::int64_t n) {
    constexpr instructions_of<part::element, Pass> list{};
    constexpr int step = ways(Pass) * lanes;
    if constexpr (ways(Pass) > 1)
      for (; i + step <= n; i += step)
        [&]<int... Way>(std::integer_sequence<int, Way...>) {
          (elements<Pass, Choice, false, Way>(args, p, r, total, i + Way * lanes, lanes, list), ...);
        }(std::make_integer_sequence<int, ways(Pass)>{});
    if constexpr (takes_pairs(Pass) && Choice == at_choice::unknown)
      for (; i + 2 * lanes <= n; i += 2 * lanes) pair<Pass>(args, p, r, total, i, list);
    for (; i + lanes <= n; i += lanes) elements<Pass, Choice, false, 0>(args, p, r, total, i, lanes, list);
    constexpr bool has_tail = is_dynamic(k.extent[last]) || k.extent[last] % lanes != 0;
    if constexpr (has_tail)
      if (i < n) elements<Pass, Choice, true, 0>(args, p, r, total, i, static_cast<int>(n - i), list);
  }

  // ---- the chosen element of a row ----

  // A mask that compares positions in a row with a number of the row is true at one element at the most, as a label's is. A pass
  // takes it for false everywhere, and computes the packet that holds the element beside its loop.
  static constexpr bool counts_elements(int i) {
    if (at(i).what != kind::load || at(i).row) return false;
    const program_detail::decoded_access& a = k.access[at(i).access];
    return a.counting && a.stride[last] == 1;
  }
  static constexpr bool is_choice(int i) {
    const program_detail::decoded_instruction& x = at(i);
    if (x.what != kind::compute || x.row || x.op != ops::code_of<ops::equal>()) return false;
    return (counts_elements(x.in[0]) && at(x.in[1]).row) || (counts_elements(x.in[1]) && at(x.in[0]).row);
  }
  /// The mask that a pass reads; -1 where there is none, or two, or the row is too short to gain, or T does not hold all positions.
  static constexpr int choice_of(int pass) {
    const std::int64_t most = std::is_same_v<T, float> ? std::int64_t{1} << 24 : INT32_MAX;
    if (record::inner != 1 || is_dynamic(k.extent[last]) || k.extent[last] < 8 * lanes || k.extent[last] > most) return -1;
    int found = -1;
    for (int i = 0; i < record::instructions; ++i)
      if ((at(i).passes >> pass & 1) && is_choice(i)) {
        if (found >= 0) return -1;
        found = i;
      }
    return found;
  }
  static constexpr bool is_zero_elsewhere(int i) {
    const program_detail::decoded_instruction& x = at(i);
    if (x.what != kind::compute || x.op != ops::code_of<ops::where>() || !is_choice(x.in[0])) return false;
    return at(x.in[2]).what == kind::constant && at(x.in[2]).bits == 0;
  }
  static constexpr bool is_sum_of_chosen(int i) {
    return at(i).what == kind::reduce_row && at(i).bits == static_cast<std::int64_t>(ir::reduction::sum) && is_zero_elsewhere(at(i).in[0]);
  }
  /// Which values of elements a choice decides.
  static constexpr auto decided = [] {
    struct { bool at[slots] = {}; } d;
    for (int i = 0; i < record::instructions; ++i) {
      d.at[i] = is_choice(i);
      if (at(i).what == kind::compute || at(i).what == kind::store)
        for (const int from : at(i).in) d.at[i] = d.at[i] || (from >= 0 && d.at[from]);
    }
    return d;
  }();
  /// Can a pass go over the row without its chosen element? Where that decides what is stored, or is all that a sum adds.
  static constexpr bool chooses(int pass) {
    if (choice_of(pass) < 0) return false;
    for (int i = 0; i < record::instructions; ++i) {
      const program_detail::decoded_instruction& x = at(i);
      if ((x.passes >> pass & 1) == 0) continue;
      const bool keeps = x.what == kind::compute && x.access >= 0, writes_mask = x.what == kind::store && x.is_mask;
      if (decided.at[i] && (keeps || writes_mask)) return false;
      const bool reduces = x.what == kind::reduce_row || x.what == kind::reduce_all || x.what == kind::reduce_columns;
      if (reduces && decided.at[x.in[0]] && !is_sum_of_chosen(i)) return false;
    }
    return true;
  }

  /// Where the packet with the chosen element begins; -1 where the row has none.
  template <int Pass>
  static TENURE_LAYER std::int64_t chosen_packet(const local_arguments& args, const position& p, const row_state& r, std::int64_t begin,
                                                 std::int64_t end) {
    constexpr auto x = at(choice_of(Pass));
    constexpr int counted = counts_elements(x.in[0]) ? 0 : 1, a = at(x.in[counted]).access;
    const T wanted = r.value[x.in[1 - counted]];
    const std::int64_t first = reinterpret_cast<std::int64_t>(args.pointer[a]) + p.offset[a];
    if (!(wanted >= static_cast<T>(first + begin) && wanted < static_cast<T>(first + end))) return -1;  // NaN, too
    const std::int64_t i = static_cast<std::int64_t>(wanted) - first - begin;
    return i >= 0 && i < end - begin ? begin + i / lanes * lanes : -1;
  }
  template <int Pass, int... I>
  static TENURE_LAYER void choose(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                  std::int64_t i, int n, std::integer_sequence<int, I...>) {
    (element<Pass, at_choice::there, true, 0, I>(args, p, r, e, total, i, n), ...);
  }
  template <int... I>
  static TENURE_LAYER void store_chosen(const local_arguments& args, const position& p, const row_state& r, const element_state& e,
                                        std::int64_t i, int n, std::integer_sequence<int, I...>) {
    ([&] {
      if constexpr (at(I).what == kind::store && decided.at[I]) store<at(I).access, true>(args, p, read<at(I).in[0]>(r, e), i, n);
    }(), ...);
  }

  // ---- per element ----

  template <int Pass, at_choice Choice, bool Partial, int Way, int... I>
  static TENURE_LAYER void elements(const local_arguments& args, const position& p, const row_state& r, sums& total,
                                     std::int64_t i, int n, std::integer_sequence<int, I...>) {
    element_state e;
    (element<Pass, Choice, Partial, Way, I>(args, p, r, e, total, i, n), ...);
    if constexpr (Pass + 1 < record::passes) prefetch_stores(args, p, i, instructions_of<part::element, Pass + 1>{});
    else if constexpr (Pass > 0 && record::outer > 0) prefetch_next_row(args, p, i, instructions_of<part::element, 0>{});
  }

  template <int Pass, int... I>
  static TENURE_LAYER void pair(const local_arguments& args, const position& p, const row_state& r, sums& total, std::int64_t i,
                                std::integer_sequence<int, I...>) {
    element_state a, b;
    constexpr at_choice unknown = at_choice::unknown;
    ((element<Pass, unknown, false, 0, I>(args, p, r, a, total, i, lanes),
      element<Pass, unknown, false, 0, I>(args, p, r, b, total, i + lanes, lanes)), ...);
  }

  /// What an instruction has put into a slot: a packet, or a mask.
  template <int Slot>
  static TENURE_LAYER auto read(const row_state& r, const element_state& e) {
    if constexpr (at(Slot).is_mask && at(Slot).row) return math::mask_set<P>(r.mask[Slot]);
    else if constexpr (at(Slot).is_mask) return e.mask[Slot];
    else if constexpr (at(Slot).row) return math::set1<P>(r.value[Slot]);
    else return e.value[Slot];
  }

  template <int Pass, at_choice Choice, bool Partial, int Way, int I>
  static TENURE_LAYER void element(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                    std::int64_t i, int n) {
    constexpr auto x = at(I);
    constexpr bool is_sink = x.what != kind::load && x.what != kind::compute;
    if constexpr (is_sink && Choice != at_choice::unknown && (Choice == at_choice::there) != is_sum_of_chosen(I)) {
      // Elsewhere it adds nothing; there it is the only one that adds.
    } else if constexpr (x.what == kind::load) {
      if constexpr (x.is_mask) e.mask[I] = load_mask<x.access, Partial>(args, p, i, n);
      else e.value[I] = load<x.access, Partial, Way>(args, p, i, n);
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
      // g++ takes a register that equals memory for the memory, and loads it again for each of its uses: a tenth of a layer norm.
      if constexpr (std::is_floating_point_v<T> && lanes > 1 && !x.is_mask && uses_of(I, Pass) > 1) asm("" : "+v"(e.value[I]));
#endif
    } else if constexpr (x.what == kind::compute) {
      constexpr bool is_first = x.access >= 0 && (x.passes & ((1u << Pass) - 1)) == 0;
      if constexpr (x.is_mask) e.mask[I] = compute<Choice, I>(r, e);
      else if constexpr (x.access >= 0 && !is_first) e.value[I] = load<x.access, Partial, Way>(args, p, i, n);
      else e.value[I] = compute<Choice, I>(r, e);
      if constexpr (is_first && Choice != at_choice::there) {
        store<x.access, Partial>(args, p, e.value[I], i, n);
      }
    } else if constexpr (x.what == kind::store) {
      if constexpr (x.is_mask) store_mask<x.access>(args, p, read<x.in[0]>(r, e), i, n);
      else store<x.access, Partial>(args, p, read<x.in[0]>(r, e), i, n);
    } else if constexpr (x.what == kind::reduce_columns) {
      using to = element_of_t<k.access[x.access].type>;
      static_assert(std::is_same_v<to, T>);
      T* at_column = static_cast<T*>(args.pointer[x.access]) + p.offset[x.access] + i;
      const P v = read<x.in[0]>(r, e);
      if constexpr (columns_in_registers) {
        total.packet[I][0] = combine<x.bits>(total.packet[I][0], v);
      } else if constexpr (Partial) {
        math::store_first<P>(at_column, combine<x.bits>(math::load_first<P>(at_column, n), v), n);
      } else {
        math::store<P>(at_column, combine<x.bits>(math::load<P>(at_column), v));
      }
    } else {
      P v = read<x.in[0]>(r, e);
      if constexpr (Partial) v = math::select(math::lt(lane_index(), math::set1<P>(static_cast<T>(n))), v, math::set1<P>(identity<x.bits>()));
      total.packet[I][Way] = combine<x.bits>(total.packet[I][Way], v);
    }
  }

  /// What the next pass stores comes into the cache while this one computes: 3 % of a softmax.
  template <int... I>
  static TENURE_LAYER void prefetch_stores(const local_arguments& args, const position& p, std::int64_t i, std::integer_sequence<int, I...>) {
    ([&] {
      constexpr auto x = at(I);
      if constexpr (x.what == kind::store && !x.is_mask)
        __builtin_prefetch(static_cast<const T*>(args.pointer[x.access]) + p.offset[x.access] + i, 1);
    }(), ...);
  }

  /// What the first pass over the next row reads comes into the cache while the last one over this row stores: a processor's own
  /// prefetching ends with the page, which a row of 4 KiB is. 3 % of a softmax, 5 % of a cross entropy, 8 % of a layer norm.
  template <int... I>
  static TENURE_LAYER void prefetch_next_row(const local_arguments& args, const position& p, std::int64_t i, std::integer_sequence<int, I...>) {
    ([&] {
      constexpr auto x = at(I);
      if constexpr (x.what == kind::load && !x.is_mask) {
        constexpr auto from = k.access[x.access];
        if constexpr (!from.counting && from.stride[last] == 1)
          __builtin_prefetch(static_cast<const element_of_t<from.type>*>(args.pointer[x.access]) + p.offset[x.access] +
                             stride<x.access, record::outer - 1>(args) + i);
      }
    }(), ...);
  }

  template <at_choice Choice, int I>
  static TENURE_LAYER auto compute(const row_state& r, const element_state& e) {
    constexpr auto x = at(I);
    constexpr bool elsewhere = Choice == at_choice::elsewhere, adds = elsewhere && x.op == ops::code_of<ops::add>();
    if constexpr (elsewhere && is_choice(I)) {
      return math::mask_set<P>(false);
    } else if constexpr (elsewhere && is_zero_elsewhere(I)) {
      return read<x.in[2]>(r, e);
    } else if constexpr (adds && is_zero_elsewhere(x.in[0])) {
      return read<x.in[1]>(r, e);
    } else if constexpr (adds && is_zero_elsewhere(x.in[1])) {
      return read<x.in[0]>(r, e);
    } else if constexpr (!ops::is_pointwise(x.op)) {  // cast and copy: numbers were converted by the load
      if constexpr (x.is_mask && !at(x.in[0]).is_mask) return math::ne(read<x.in[0]>(r, e), math::set1<P>(T(0)));
      else if constexpr (!x.is_mask && at(x.in[0]).is_mask) return math::select(read<x.in[0]>(r, e), math::set1<P>(T(1)), math::set1<P>(T(0)));
      else return read<x.in[0]>(r, e);
    } else {
      using operation = ops::operation_of<x.op>;
      if constexpr (operation::arity == 1) return operation::evaluate(read<x.in[0]>(r, e));
      else if constexpr (operation::arity == 2) return operation::evaluate(read<x.in[0]>(r, e), read<x.in[1]>(r, e));
      else return operation::evaluate(read<x.in[0]>(r, e), read<x.in[1]>(r, e), read<x.in[2]>(r, e));
    }
  }

  /// 0, 1, 2, ..., Way packets on.
  template <int Way = 0>
  static TENURE_LAYER P lane_index() {
    static constexpr auto index = [] {
      struct { alignas(64) T at[lanes]; } counted{};
      for (int l = 0; l < lanes; ++l) counted.at[l] = static_cast<T>(Way * lanes + l);
      return counted;
    }();
    return math::load<P>(index.at);
  }

  template <int A, bool Partial, int Way>
  static TENURE_LAYER P load(const local_arguments& args, const position& p, std::int64_t i, int n) {
    constexpr auto x = k.access[A];
    const std::int64_t step = stride<A, last>(args);
    if constexpr (x.counting) {
      // The same number for all packets taken together.
      const T base = static_cast<T>(reinterpret_cast<std::int64_t>(args.pointer[A]) + p.offset[A] + (i - Way * lanes) * step);
      return math::add(math::set1<P>(base), math::mul(lane_index<Way>(), math::set1<P>(static_cast<T>(step))));
    } else {
      using from = element_of_t<x.type>;
      const from* source = static_cast<const from*>(args.pointer[A]) + p.offset[A] + i * step;
      if constexpr (x.stride[last] == 0) {
        return math::set1<P>(number::convert<T>(*source));
      } else if constexpr (!std::is_same_v<from, T>) {
        T lane[lanes];
        for (int l = 0; l < lanes; ++l) lane[l] = !Partial || l < n ? number::convert<T>(source[l * step]) : T(0);
        return math::load<P>(lane);
      } else {
        if constexpr (is_dynamic(x.stride[last]) || x.stride[last] != 1)
          if (step != 1) {
            if constexpr (!Partial) {
              return math::gather<P>(source, step);
            } else {
              T lane[lanes];
              for (int l = 0; l < lanes; ++l) lane[l] = l < n ? source[l * step] : T(0);
              return math::load<P>(lane);
            }
          }
        if constexpr (Partial) return math::load_first<P>(source, n);
        else return math::load<P>(source);
      }
    }
  }

  template <int A, bool Partial>
  static TENURE_LAYER M load_mask(const local_arguments& args, const position& p, std::int64_t i, int n) {
    const std::int64_t step = stride<A, last>(args);
    const bool* source = static_cast<const bool*>(args.pointer[A]) + p.offset[A] + i * step;
    if constexpr (lanes == 1) return *source;
    else {
      T lane[lanes];
      for (int l = 0; l < lanes; ++l) lane[l] = (!Partial || l < n) && source[l * step] ? T(1) : T(0);
      return math::ne(math::load<P>(lane), math::set1<P>(T(0)));
    }
  }

  template <int A, bool Partial>
  static TENURE_LAYER void store(const local_arguments& args, const position& p, P v, std::int64_t i, int n) {
    const std::int64_t step = stride<A, last>(args);
    T* target = static_cast<T*>(args.pointer[A]) + p.offset[A] + i * step;
    if constexpr (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] != 1) {  // a narrow part of a concat
      T lane[lanes];
      math::store<P>(lane, v);
      for (int l = 0; l < n; ++l) target[l * step] = lane[l];
    } else if constexpr (Partial) math::store_first<P>(target, v, n);
    else if constexpr (may_bypass_caches && writes_past_caches(A)) {
      if (args.bypasses_caches) math::stream<P>(target, v);
      else math::store<P>(target, v);
    } else math::store<P>(target, v);
  }
  template <int A>
  static TENURE_LAYER void store_mask(const local_arguments& args, const position& p, M m, std::int64_t i, int n) {
    const std::int64_t step = stride<A, last>(args);
    bool* target = static_cast<bool*>(args.pointer[A]) + p.offset[A] + i * step;
    const unsigned bits = math::lane_bits<P>(m);
    for (int l = 0; l < n; ++l) target[l * step] = (bits >> l & 1) != 0;
  }

  // ---- per row ----

  template <int Phase, int... I>
  static TENURE_LAYER void row_phase(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...>) {
    (row_instruction<Phase, I>(args, p, r, total), ...);
  }

  template <int Slot>
  static TENURE_LAYER auto read_row(const row_state& r) {
    if constexpr (at(Slot).is_mask) return r.mask[Slot];
    else return r.value[Slot];
  }

  template <int Phase, int I>
  static TENURE_LAYER void row_instruction(const local_arguments& args, const position& p, row_state& r, sums& total) {
    constexpr auto x = at(I);
    if constexpr (x.what == kind::constant) {
      if constexpr (x.is_mask) r.mask[I] = x.bits != 0;
      else if constexpr (std::is_floating_point_v<T>) r.value[I] = static_cast<T>(std::bit_cast<double>(x.bits));
      else r.value[I] = static_cast<T>(x.bits);
    } else if constexpr (x.what == kind::load) {
      if constexpr (k.access[x.access].counting) {
        r.value[I] = static_cast<T>(reinterpret_cast<std::int64_t>(args.pointer[x.access]) + p.offset[x.access]);
      } else {
        using from = element_of_t<k.access[x.access].type>;
        const from v = static_cast<const from*>(args.pointer[x.access])[p.offset[x.access]];
        if constexpr (x.is_mask) r.mask[I] = v != from(0);
        else r.value[I] = number::convert<T>(v);
      }
    } else if constexpr (x.what == kind::compute) {
      if constexpr (x.is_mask) r.mask[I] = compute_row<I>(r);
      else r.value[I] = compute_row<I>(r);
    } else if constexpr (x.what == kind::store) {
      using to = element_of_t<k.access[x.access].type>;
      to* target = static_cast<to*>(args.pointer[x.access]) + p.offset[x.access];
      *target = number::convert<to>(read_row<x.in[0]>(r));
    } else {
      total.scalar[I] = combine<x.bits>(total.scalar[I], r.value[x.in[0]]);
    }
  }

  template <int I>
  static TENURE_LAYER auto compute_row(const row_state& r) {
    constexpr auto x = at(I);
    if constexpr (!ops::is_pointwise(x.op)) {
      if constexpr (x.is_mask && !at(x.in[0]).is_mask) return r.value[x.in[0]] != T(0);
      else if constexpr (!x.is_mask && at(x.in[0]).is_mask) return r.mask[x.in[0]] ? T(1) : T(0);
      else return read_row<x.in[0]>(r);
    } else {
      using operation = ops::operation_of<x.op>;
      if constexpr (operation::arity == 1) return operation::evaluate(read_row<x.in[0]>(r));
      else if constexpr (operation::arity == 2) return operation::evaluate(read_row<x.in[0]>(r), read_row<x.in[1]>(r));
      else return operation::evaluate(read_row<x.in[0]>(r), read_row<x.in[1]>(r), read_row<x.in[2]>(r));
    }
  }

  // ---- reductions ----

  template <std::int64_t Kind, class V>
  static TENURE_LAYER V combine(V a, V b) { return ops::combine<static_cast<ir::reduction>(Kind)>(a, b); }
  template <std::int64_t Kind>
  static constexpr T identity() { return ops::identity<static_cast<ir::reduction>(Kind), T>(); }
  static constexpr int ways_of(int i) { return at(i).row && at(i).what == kind::reduce_all ? 1 : ways(std::countr_zero(at(i).passes)); }
  // Accumulators are spelled out: clang keeps an array in registers only where no index is left to a loop.
  static_assert(most_ways == 4);
  template <int I>
  static TENURE_LAYER T across(const sums& total) {
    constexpr std::int64_t what = at(I).bits;
    const auto both = [](auto x, auto y) { return combine<what>(x, y); };
    const auto& v = total.packet[I];
    P lane = v[0];
    if constexpr (ways_of(I) > 1) lane = both(both(v[0], v[1]), both(v[2], v[3]));
    constexpr auto reduction = static_cast<ir::reduction>(what);
    if constexpr ((reduction != ir::reduction::max && reduction != ir::reduction::min) || !std::is_floating_point_v<T>) {
      return math::across<P>(lane, both);
    } else {
      // The next pass waits for this: NaN is looked for beside the steps from half to half, not in each.
      if (math::any<P>(math::is_nan(lane))) [[unlikely]] return std::numeric_limits<T>::quiet_NaN();
      constexpr bool largest = reduction == ir::reduction::max;
      return math::across<P>(lane, [](auto x, auto y) { return largest ? math::max_of_numbers(x, y) : math::min_of_numbers(x, y); });
    }
  }
  template <int I>
  static TENURE_LAYER void start(sums& total) {
    const P nothing = math::set1<P>(identity<at(I).bits>());
    auto& v = total.packet[I];
    v[0] = nothing;
    if constexpr (ways_of(I) > 1) v[1] = v[2] = v[3] = nothing;
    total.scalar[I] = identity<at(I).bits>();
  }

  template <int... I>
  static TENURE_LAYER void start_all(sums& total, std::integer_sequence<int, I...>) {
    (start<I>(total), ...);
  }
  template <int... I>
  static TENURE_LAYER void finish_row(row_state& r, const sums& total, std::integer_sequence<int, I...>) {
    ((r.value[I] = across<I>(total)), ...);
  }
  template <int I>
  static TENURE_LAYER void finish_one(const local_arguments& args, const sums& total, T* totals) {
    if constexpr (is_total(I)) {
      if constexpr (at(I).row) totals[number_of_total(I)] = total.scalar[I];
      else totals[number_of_total(I)] = across<I>(total);
    } else {
      if constexpr (k.extent[last] == lanes) math::store<P>(target<I>(args), total.packet[I][0]);
      else math::store_first<P>(target<I>(args), total.packet[I][0], static_cast<int>(k.extent[last]));
    }
  }
  template <int... I>
  static TENURE_LAYER void finish(const local_arguments& args, const sums& total, [[maybe_unused]] T* totals, std::integer_sequence<int, I...>) {
    (finish_one<I>(args, total, totals), ...);
  }
  template <int... I>
  static TENURE_LAYER void add_totals([[maybe_unused]] T* to, [[maybe_unused]] const T* from, std::integer_sequence<int, I...>) {
    ((to[number_of_total(I)] = combine<at(I).bits>(to[number_of_total(I)], from[number_of_total(I)])), ...);
  }
  template <int... I>
  static TENURE_LAYER void write_totals(const local_arguments& args, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>) {
    ((*target<I>(args) = totals[number_of_total(I)]), ...);
  }
  template <int I>
  static TENURE_LAYER T* target(const local_arguments& args) { return static_cast<T*>(args.pointer[at(I).access]); }
  /// What the first row adds to.
  template <int... I>
  static TENURE_LAYER void start_columns(const local_arguments& args, std::integer_sequence<int, I...>) {
    std::int64_t n = 1;
    [&]<int... D>(std::integer_sequence<int, D...>) { ((n *= extent<record::outer + D>(args)), ...); }(std::make_integer_sequence<int, record::inner>{});
    (std::fill_n(target<I>(args), n, identity<at(I).bits>()), ...);
  }
};

/// The kernel as a function of its own: what a table of steps points to.
template <class Code>
void fused_kernel(const kernel_arguments& args) {
  fused<Code>::run(args);
}

}  // namespace tenure::cpu_backend

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
