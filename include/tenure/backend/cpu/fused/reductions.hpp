// SPDX-License-Identifier: BSL-1.0
// The instructions that have one value for each row, and the accumulators of reductions: start, combine, finish.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include <tenure/backend/cpu/fused/memory.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct reductions : packet_memory<Code> {
  using base = packet_memory<Code>;
  using typename base::kind, typename base::local_arguments, typename base::P, typename base::position, typename base::record, typename base::row_state;
  using typename base::sums, typename base::T;
  using base::at, base::chooses, base::columns_in_registers, base::effort_of, base::k, base::lanes, base::last, base::reduces_columns;
  using base::total_of;

  static constexpr int of_one_fold = 128;  // clang refuses folds of more than 256 operands

  /// The instructions I of a phase. A kernel of numbers has hundreds of them.
  template <int... I>
  static TENURE_LAYER void row_phase(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...> all) {
    if constexpr (sizeof...(I) <= of_one_fold) (program_detail::row_instruction<Code, I>(args, p.offset, r, total.scalar, true), ...);
    else some_of_row<0>(args, p, r, total, all, std::make_integer_sequence<int, of_one_fold>{});
  }
  template <int First, int... I, int... J>
  static TENURE_LAYER void some_of_row(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...> all, std::integer_sequence<int, J...>) {
    constexpr int list[] = {I...}, next = First + static_cast<int>(sizeof...(J)), rest = static_cast<int>(sizeof...(I)) - next;
    (program_detail::row_instruction<Code, list[First + J]>(args, p.offset, r, total.scalar, true), ...);
    if constexpr (rest > 0) some_of_row<next>(args, p, r, total, all, std::make_integer_sequence<int, (rest < of_one_fold ? rest : of_one_fold)>{});
  }

  template <int I>
  static TENURE_LAYER T* result_of(const local_arguments& args) { return static_cast<T*>(args.pointer[at(I).access]); }
  static constexpr int ways_of(int i) { return at(i).row && at(i).what == kind::reduce_all ? 1 : base::ways_of_passes.at[std::countr_zero(at(i).passes)]; }
  // across() and start() name each accumulator, because clang keeps an array in registers only if no loop indexes the array.
  static_assert(costs::max_ways == 4);

  template <int I>
  static TENURE_LAYER auto across(const sums& total) -> T {
    constexpr ir::reduction reduction = at(I).reduction();
    const auto both = [](auto x, auto y) { return ops::combine<reduction>(x, y); };
    const auto& v = total.packet[I];
    P lane = v[0];
    if constexpr (ways_of(I) > 1) lane = both(both(v[0], v[1]), both(v[2], v[3]));
    if constexpr ((reduction != ir::reduction::max && reduction != ir::reduction::min) || !std::is_floating_point_v<T>) {
      return math::across<P>(lane, both);
    } else {
      // The next pass waits for this result. One search for NaN in all lanes is faster than a search in each step.
      if (math::any<P>(math::is_nan(lane))) [[unlikely]] return std::numeric_limits<T>::quiet_NaN();
      constexpr bool largest = reduction == ir::reduction::max;
      return math::across<P>(lane, [](auto x, auto y) { return largest ? math::max_of_numbers(x, y) : math::min_of_numbers(x, y); });
    }
  }

  template <int I>
  static TENURE_LAYER void start(sums& total) {
    const P nothing = math::set1<P>(ops::identity<at(I).reduction(), T>());
    auto& v = total.packet[I];
    v[0] = nothing;
    if constexpr (ways_of(I) > 1) v[1] = v[2] = v[3] = nothing;
    total.scalar[I] = ops::identity<at(I).reduction(), T>();
  }

  template <int... I>
  static TENURE_LAYER void start_all(sums& total, std::integer_sequence<int, I...>) {
    (start<I>(total), ...);
  }

  /// Adds the sums of a segment to the sums of the segments before it, and starts the sums of the next segment.
  template <int... I>
  static TENURE_LAYER void end_segment(sums& total, sums& of_row, std::integer_sequence<int, I...>) {
    ([&] {
      auto& v = total.packet[I];
      if constexpr (ways_of(I) > 1) v[0] = math::add(math::add(v[0], v[1]), math::add(v[2], v[3]));
      of_row.packet[I][0] = math::add(of_row.packet[I][0], v[0]);
      start<I>(total);
    }(), ...);
  }

  template <int... I>
  static TENURE_LAYER void finish_row(row_state& r, const sums& total, std::integer_sequence<int, I...>) {
    ((r.value[I] = across<I>(total)), ...);
  }

  /// A packet of the results of columns in memory, of which the first n are used.
  template <bool Partial>
  static TENURE_LAYER P load_column(const T* from, int n) {
    if constexpr (Partial) return math::load_first<P>(from, n);
    else return math::load<P>(from);
  }
  template <bool Partial>
  static TENURE_LAYER void store_column(T* to, P v, int n) {
    if constexpr (Partial) math::store_first<P>(to, v, n);
    else math::store<P>(to, v);
  }

  template <int... I>
  static TENURE_LAYER void finish(const local_arguments& args, const sums& total, [[maybe_unused]] T* totals, std::integer_sequence<int, I...>) {
    ([&] {
      constexpr int row = static_cast<int>(k.extent[last]);
      if constexpr (at(I).what == kind::reduce_columns) store_column<row != lanes>(result_of<I>(args), total.packet[I][0], row);
      else if constexpr (at(I).row && at(I).what == kind::reduce_all) totals[total_of(I)] = total.scalar[I];
      else totals[total_of(I)] = across<I>(total);
    }(), ...);
  }

  template <int... I>
  static TENURE_LAYER void add_totals([[maybe_unused]] T* to, [[maybe_unused]] const T* from, std::integer_sequence<int, I...>) {
    ((to[total_of(I)] = ops::combine<at(I).reduction()>(to[total_of(I)], from[total_of(I)])), ...);
  }

  template <int... I>
  static TENURE_LAYER void write_totals(const local_arguments& args, [[maybe_unused]] const T* totals, std::integer_sequence<int, I...>) {
    ((*result_of<I>(args) = totals[total_of(I)]), ...);
  }

  /// Sets the column results to the identity before the first row.
  template <int... I>
  static TENURE_LAYER void start_columns(const local_arguments& args, std::integer_sequence<int, I...>) {
    [[maybe_unused]] std::int64_t n = 1;
    for (int d = record::outer; d < record::rank; ++d) n *= number_of(args, k.extent[d]);
    (std::fill_n(result_of<I>(args), n, ops::identity<at(I).reduction(), T>()), ...);
  }

  /// The mask of the row on which all results of a pass depend, or -1. If the mask is false, the pass only adds zeros and can be skipped.
  static constexpr int mask_of_sums(int pass) {
    int mask = -1;
    for (int i = 0; i < record::instructions; ++i) {
      const action does = in_pass(k.instruction[i], pass);
      if (does == action::keep || does == action::store) return -1;
      if (does != action::reduce_row && does != action::reduce_columns && does != action::reduce_all) continue;
      const instruction &sum = k.instruction[i], &x = k.instruction[sum.in[0]];
      if (sum.reduction() != ir::reduction::sum || x.what != kind::compute || x.op != ops::code_of<ops::where>()) return -1;
      const instruction &zero = k.instruction[x.in[2]], &by = k.instruction[x.in[0]];
      if (zero.what != kind::constant || zero.bits != 0 || !by.row || by.phase > pass || (mask >= 0 && mask != x.in[0])) return -1;
      mask = x.in[0];
    }
    return mask;
  }

  /// False where a pass over the row would add only zeros.
  template <int Pass>
  static TENURE_LAYER bool has_work(const row_state& r) {
    constexpr int mask = mask_of_sums(Pass);
    if constexpr (mask < 0) return true;
    else return r.mask[mask];
  }

  /// The effort for each element of a kernel that does nothing but add up rows, or -1.
  static constexpr int work_of_row_sums = [] {
    bool only_adds = reduces_columns && !columns_in_registers && record::passes == 1 && record::inner == 1 && record::outer > 0;
    only_adds = only_adds && base::template in_group<0> == 1 && !chooses(0);
    int work = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = at(i);
      const bool adds = x.what == kind::reduce_columns && !x.row, computes = x.what == kind::compute && !x.is_kept();
      only_adds = only_adds && (adds || computes || x.what == kind::constant || x.what == kind::load) && !(x.row && x.phase > 0);
      if (computes && !x.row) work += ops::instructions_of(effort_of(i));
    }
    return only_adds ? work : -1;
  }();
  /// Whether a kernel does nothing else, and computes little for it.
  static constexpr bool adds_several_rows = work_of_row_sums >= 0 && work_of_row_sums <= costs::work_of_added_rows;
  /// The rows that are added at a time.
  static constexpr int rows_at_once =
      !is_dynamic(k.extent[last]) && k.extent[last] <= costs::packets_of_short_row * lanes && work_of_row_sums <= costs::work_of_short_rows ? costs::short_rows_added_at_once
                                                                                                                                         : costs::rows_added_at_once;
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
