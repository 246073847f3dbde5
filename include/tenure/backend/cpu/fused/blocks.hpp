// SPDX-License-Identifier: BSL-1.0
// Cuts a kernel into blocks, runs them on one thread or several, and combines their results in order.
#pragma once

#include <cstddef>

#include <tenure/backend/cpu/fused/loops.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct kernel_in_blocks : loop_nest<Code> {
  using base = loop_nest<Code>;
  using typename base::block_range, typename base::kind, typename base::local_arguments, typename base::position, typename base::record;
  using typename base::row_state, typename base::sums, typename base::T, typename base::whole;
  using base::add_totals, base::adds_rows, base::at, base::collected_numbers, base::count_of, base::cuts, base::gains_by_bypassing, base::is_cut, base::k;
  using base::kept_rows, base::max_totals, base::may_bypass_caches, base::reduces_columns, base::row_phase, base::run_range;
  using base::sums_are_totals, base::total_count, base::write_totals;
  template <part Part, int Pass = 0>
  using those = typename base::template those<Part, Pass>;

  struct blocks {
    local_arguments args;
    block_grid grid;
    std::int64_t extent[2];
    std::int64_t columns = 0;    // the elements of a row
    T* column_memory = nullptr;  // for all blocks except the first, which writes into the results
    std::int64_t column_step = 0;
    T* worker_memory = nullptr;  // for the first worker the column sums of a part; then for each other worker its kept rows and the column sums of a part
    std::int64_t part_step = 0;  // the elements of the column sums of a part
    const row_producer* rows = nullptr;
    T totals[costs::max_grid_blocks][max_totals];

    static void run(void* context, int b, int worker) {
      auto& all = *static_cast<blocks*>(context);
      local_arguments args = all.args;
      if constexpr (reduces_columns)
        if (b > 0)
          point_columns_to(args, all.column_memory + (b - 1) * all.column_step, all.columns);
      T* memory = all.worker_memory;
      if (worker > 0) memory += all.part_step + (worker - 1) * (base::kept_rows * all.columns + all.part_step);
      if constexpr (base::kept_rows > 0)
        if (worker > 0) {
          point_to(args, memory, all.columns, [](int i) { return at(i).is_kept(); });
          memory += base::kept_rows * all.columns;
        }
      alignas(8) std::byte unused[8];
      if (b > 0) drop_row_results(args, unused);
      block_range range{};
      for (int d = 0; d < 2; ++d) {
        range.first[d] = all.grid.begin(d, b);
        const std::int64_t end = range.first[d] + all.grid.length[d];
        range.last[d] = end < all.extent[d] ? end : all.extent[d];
      }
      T* const totals = all.totals[total_count > 0 ? b : 0];
      if (all.rows != nullptr) run_rows(*all.rows, args, range, worker, totals);
      else run_parts(args, range, totals, memory, all.columns);
    }

    /// Runs a block. A sum over many rows is the sum of parts. `memory` is for the column sums of a part.
    static void run_parts(const local_arguments& args, const block_range& range, T* totals, [[maybe_unused]] T* memory, [[maybe_unused]] std::int64_t columns) {
      if constexpr (adds_rows)
        if (has_parts(range.last[0] - range.first[0])) {
          local_arguments of_part = args;
          point_columns_to(of_part, memory, columns);
          block_range few = range;
          few.last[0] = few.first[0] + costs::rows_of_part;
          run_block(local_arguments(args), few, totals);
          while (few.last[0] < range.last[0]) {
            few.first[0] = few.last[0];
            few.last[0] = range.last[0] - few.first[0] < costs::rows_of_part ? range.last[0] : few.first[0] + costs::rows_of_part;
            T of_few[max_totals];
            run_block(local_arguments(of_part), few, of_few);  // a copy, as in run_rows
            add_block(totals, of_few);
            if constexpr (reduces_columns) add_columns(args, memory, columns);
          }
          return;
        }
      run_block(args, range, totals);
    }

    /// Runs a block a few rows at a time: computes the rows that the kernel reads, runs the kernel on them, and passes its result to the consumers.
    static void run_rows(const row_producer& source, const local_arguments& args, const block_range& range, int worker, T* totals) {
      const std::int64_t step = source.rows_at_once * source.per_row;
      alignas(8) std::byte unused[8];
      for (block_range few = range; few.first[0] < range.last[0]; few.first[0] += step) {
        const bool is_first = few.first[0] == range.first[0];
        if (range.last[0] - few.first[0] > step) few.last[0] = few.first[0] + step;
        else few.last[0] = range.last[0];
        const std::int64_t first = few.first[0] / source.per_row, count = (few.last[0] - few.first[0]) / source.per_row;
        local_arguments pointed = args;
        for (const row_producer* rows = &source; rows != nullptr; rows = rows->next) rows->produce(pointed.pointer, first, count, worker);
        for (const row_consumer* to = source.consumers; to != nullptr; to = to->next)
          if (!to->rows.in_place) to->rows.move(pointed.pointer, first, to->rows.memory);
        if (!is_first) drop_row_results(pointed, unused);
        T of_few[max_totals];
        run_block(local_arguments(pointed), few, is_first ? totals : of_few);  // a copy: if another function sees the address of the arguments, the
                                                                              // compiler loads them again for every packet
        if (!is_first) add_block(totals, of_few);
        for (const row_consumer* to = source.consumers; to != nullptr; to = to->next) to->consume(to->context, first, count, to->rows.at(first, 0, 0));
      }
    }

    /// Keeps other blocks from writing the results of the only row of a kernel: only the first block writes them.
    static void drop_row_results([[maybe_unused]] local_arguments& args, [[maybe_unused]] std::byte* unused) {
      if constexpr (record::outer == 0) point_to(args, unused, 0, [](int i) { return at(i).stores_row(); });
    }
    /// Points the accesses of the selected instructions to other memory.
    template <class To, class Chosen>
    static void point_to(local_arguments& args, To* memory, std::int64_t elements, Chosen is_chosen) {
      for (int i = 0; i < record::instructions; ++i)
        if (is_chosen(i)) args.pointer[at(i).access] = memory, memory += elements;
    }

    static void point_columns_to(local_arguments& args, T* memory, std::int64_t columns) {
      point_to(args, memory, columns, [](int i) { return at(i).what == kind::reduce_columns; });
    }

    /// How column sum i is combined. In a lambda within a lambda g++ 16 finds another `at` than this member.
    static constexpr auto reduction_of(int i) { return at(i).reduction(); }

    /// Adds the columns of block b > 0 to the results.
    void add_columns(int b) { add_columns(args, column_memory + (b - 1) * column_step, columns); }
    /// Adds columns to the column results of the arguments.
    static void add_columns(const local_arguments& args, const T* column, std::int64_t columns) {
      [&]<int... I>(std::integer_sequence<int, I...>) {
        ([&] {
          T* const to = base::template result_of<I>(args);
          for (std::int64_t j = 0; j < columns; ++j) to[j] = ops::combine<reduction_of(I)>(to[j], column[j]);
          column += columns;
        }(), ...);
      }(those<part::column_sums>{});
    }
  };

  /// One block. This function is not inlined, so that the loops are compiled only once for one thread and several threads.
  [[gnu::noinline]] TENURE_FLATTEN static void run_block(const local_arguments& given, const block_range& of, T* totals) {
    local_arguments args = given;  // variables of this function, which the compiler keeps in registers
    const block_range range = of;
    alignas(64) [[maybe_unused]] T collected[collected_numbers + 1];
    args.collected = collected;
    run_range(args, range, totals);
    if constexpr (may_bypass_caches)
      if (args.bypasses_caches) math::end_of_streams();
  }

  /// Adds the totals of a block to the totals of the blocks before it.
  static TENURE_INLINE void add_block([[maybe_unused]] T* totals, [[maybe_unused]] const T* of_block) {
    add_totals(totals, of_block, those<part::totals>{});
    if constexpr (sums_are_totals) add_totals(totals, of_block, those<part::row_sums>{});
  }

  /// Writes the totals of all blocks, and runs the instructions that come after the sums of the only row.
  static TENURE_INLINE void end_blocks(const local_arguments& args, const T* totals) {
    write_totals(args, totals, those<part::totals>{});
    if constexpr (sums_are_totals) {
      row_state r;
      sums none;
      row_phase(args, position{}, r, none, those<part::row, 0>{});
      [&]<int... I>(std::integer_sequence<int, I...>) { ((r.value[I] = totals[base::total_of(I)]), ...); }(those<part::row_sums>{});
      row_phase(args, position{}, r, none, those<part::row, 1>{});
    }
  }

  static TENURE_INLINE void run_blocks(const local_arguments& args, const kernel_arguments& given) {
    std::int64_t extents[record::rank], elements = 1;
    for (int d = 0; d < record::rank; ++d) elements *= extents[d] = number_of(args, k.extent[d]);
    const bool is_one_block = given.rows == nullptr && elements * record::instructions < costs::two_blocks_work;
    if (!is_one_block) return run_many_blocks(args, given, extents);
    block_range range{};
    for (int d = 0; d < cuts; ++d) range.last[d] = extents[d];
    T totals[max_totals];
    std::int64_t columns = 1;
    for (int d = record::outer; d < record::rank; ++d) columns *= extents[d];
    blocks::run_parts(args, range, totals, static_cast<T*>(given.scratch), columns);
    end_blocks(args, totals);
  }

  [[gnu::noinline]] static void run_many_blocks(const local_arguments& args, const kernel_arguments& given, const std::int64_t* extents) {
    const row_producer* const source = given.rows;
    const bool follows_product = source != nullptr && source->is_product;
    std::int64_t columns = 1, elements = 1;
    for (int d = 0; d < record::rank; ++d) (d < record::outer ? elements : columns) *= extents[d];
    elements *= columns;
    blocks all;
    for (T& t : all.totals[0]) t = T(0);  // g++ does not see that there is at least one block
    all.args = args;
    if constexpr (may_bypass_caches) all.args.bypasses_caches = !follows_product && gains_by_bypassing(args);
    all.rows = source;
    all.grid = source != nullptr ? source->grid(extents[0], extents[1 < record::rank ? 1 : 0])
                                 : cut_of_kernel(extents, record::outer, record::inner, cuts, record::instructions, reduces_columns);
    for (int d = 0; d < 2; ++d) all.extent[d] = d < cuts ? extents[d] : 0;
    all.columns = columns;
    all.column_memory = static_cast<T*>(given.scratch);
    const int count = all.grid.count();
    if constexpr (adds_rows && reduces_columns) all.part_step = source == nullptr && has_parts(extents[0]) ? count_of(kind::reduce_columns) * columns : 0;
    all.worker_memory = all.column_memory + (count > 1 ? count_of(kind::reduce_columns) * columns : 0);
    const bool is_worth_it = count > 1 && given.on != nullptr && (follows_product || given.on->gains_by(elements * record::instructions));
    executor* const on = is_worth_it ? given.on : nullptr;
    if (on == nullptr) {
      for (int b = 0; b < count; ++b) {
        blocks::run(&all, b, 0);
        if (b > 0) all.add_columns(b);
      }
    } else {
      all.column_step = count_of(kind::reduce_columns) * columns;
      all.worker_memory = all.column_memory + (count - 1) * all.column_step;
      on->run(count, &blocks::run, &all);
      for (int b = 1; b < count; ++b) all.add_columns(b);
    }
    if constexpr (total_count > 0)
      for (int b = 1; b < count; ++b) add_block(all.totals[0], all.totals[b]);
    end_blocks(args, all.totals[0]);
  }

  /// The whole kernel.
  TENURE_FLATTEN static TENURE_INLINE void run(const kernel_arguments& given) {
    local_arguments args(given);
    if constexpr (is_cut) {
      run_blocks(args, given);
    } else {
      T totals[max_totals];
      alignas(64) [[maybe_unused]] T collected[collected_numbers + 1];
      args.collected = collected;
      if constexpr (may_bypass_caches) args.bypasses_caches = gains_by_bypassing(args);
      run_range(args, whole{}, totals);
      if constexpr (may_bypass_caches)
        if (args.bypasses_caches) math::end_of_streams();
      write_totals(args, totals, those<part::totals>{});
    }
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
