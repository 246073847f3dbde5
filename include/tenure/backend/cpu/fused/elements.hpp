// SPDX-License-Identifier: BSL-1.0
// The instructions of a pass, for one packet.
#pragma once

#include <tenure/backend/cpu/fused/reductions.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct pass_elements : reductions<Code> {
  using base = reductions<Code>;
  using typename base::element_state, typename base::kind, typename base::local_arguments, typename base::P, typename base::position, typename base::record;
  using typename base::row_state, typename base::sums, typename base::T, typename base::transposition;
  using base::adds_several_rows, base::at, base::collected_numbers, base::columns_in_registers, base::decided, base::is_choice, base::is_sum_of_chosen, base::of_one_fold;
  using base::is_zero_elsewhere, base::k, base::lanes, base::last, base::mask_of_sums, base::stream_rows;
  template <part Part, int Pass>
  using those = typename base::template those<Part, Pass>;

  /// The instructions of a pass for the packets W of a row, which begins at element i: each instruction for all of these packets before the next instruction.
  template <int Pass, at_choice Choice, bool Partial, int... W>
  static TENURE_LAYER void elements(const local_arguments& args, const position& p, const row_state& r, sums& total, std::int64_t i, int n,
                                    std::integer_sequence<int, W...> packets) {
    element_state e[sizeof...(W)];
    some_elements<Pass, Choice, Partial, 0>(args, p, r, e, total, i, n, packets, fold_from<Pass, 0>{});
    if constexpr (!Partial && collected_numbers > 0)
      if (args.bypasses_caches) (stream_rows(args, i + W * lanes, std::make_integer_sequence<int, transposition::all.stored_count>{}), ...);
    (prefetch<Pass>(args, p, i + W * lanes), ...);
  }

  /// The numbers 0, 1, ... of the instructions of one fold, which begins at position First of a pass.
  template <int Pass, int First>
  using fold_from = std::make_integer_sequence<int, (those<part::elements, Pass>::size() - First < of_one_fold ? those<part::elements, Pass>::size() - First : of_one_fold)>;

  /// The instructions of a pass from position First on. `e` has the state of each packet. Without a lambda: with one over the folds, g++ inlines nothing
  /// below it in a large unit, and a gradient took 1.5 times as long.
  template <int Pass, at_choice Choice, bool Partial, int First, int... W, int... J>
  static TENURE_LAYER void some_elements(const local_arguments& args, const position& p, const row_state& r, element_state* e, sums& total, std::int64_t i,
                                         int n, [[maybe_unused]] std::integer_sequence<int, W...> packets, std::integer_sequence<int, J...>) {
    constexpr auto& list = base::template selection<part::elements, Pass>::list;
    if constexpr (sizeof...(W) == 1) (element<Pass, Choice, Partial, (W + ...), list.at[First + J]>(args, p, r, *e, total, i + (W + ...) * lanes, n), ...);
    else (each_of_group<Pass, list.at[First + J]>(args, p, r, e, total, i, packets), ...);
    constexpr int next = First + static_cast<int>(sizeof...(J));
    if constexpr (next < list.count) some_elements<Pass, Choice, Partial, next>(args, p, r, e, total, i, n, packets, fold_from<Pass, next>{});
  }

  /// One instruction for each packet of a group. Keeps the order of the instructions if the longest chain has 200 cycles or more. For a shorter chain clang's
  /// own order is better, because the next packets begin while the chain waits: the gradient of two functions in a chain (100 cycles) took 1.09 times as
  /// long in a fixed order.
  template <int Pass, int I, int... W>
  static TENURE_LAYER void each_of_group(const local_arguments& args, const position& p, const row_state& r, element_state* e, sums& total, std::int64_t i,
                                         std::integer_sequence<int, W...>) {
    constexpr bool computes = in_pass(at(I), Pass) == action::compute && !at(I).is_mask;
    constexpr bool stays_in_order = computes && base::template longest_chain<Pass> >= costs::long_chain;
    if constexpr (stays_in_order) ((element<Pass, at_choice::unknown, false, 0, I>(args, p, r, e[W], total, i + W * lanes, lanes), math::stay_in_order(e[W].value[I])), ...);
    else (element<Pass, at_choice::unknown, false, 0, I>(args, p, r, e[W], total, i + W * lanes, lanes), ...);
  }

  template <int Pass, at_choice Choice, bool Partial, int Way, int I>
  static TENURE_LAYER void element(const local_arguments& args, const position& p, const row_state& r, element_state& e, sums& total,
                                    std::int64_t i, int n) {
    constexpr auto x = at(I);
    constexpr action does = in_pass(at(I), Pass);
    constexpr bool is_consumer = x.what != kind::load && x.what != kind::compute;
    if constexpr (is_consumer && Choice != at_choice::unknown && (Choice == at_choice::there) != is_sum_of_chosen(I)) {
      // Skipped: a sum of chosen elements adds only in the packet with the chosen element, and every other consumer runs elsewhere.
    } else if constexpr (transposition::holds(I)) {
      if constexpr (transposition::due_at(I) > 0) base::template move_blocks<I, Partial>(args, p, r, e, i, n, std::make_integer_sequence<int, transposition::due_at(I)>{});
    } else if constexpr (does == action::load) {
      if constexpr (x.is_mask) e.mask[I] = base::template load_mask<x.access, Partial>(args, p, i, n);
      else e.value[I] = base::template load<x.access, Partial, Way>(args, p, i, n);
      constexpr bool is_number = x.what == kind::load && !x.is_mask && std::is_floating_point_v<T> && lanes > 1;
      if constexpr (is_number && base::template uses<Pass>.of[I] > 1) math::stay_in_register(e.value[I]);
    } else if constexpr (does == action::compute || does == action::keep) {
      if constexpr (x.is_mask) e.mask[I] = compute<Pass, Choice, I>(r, e, typename base::template operands_of<I>{});
      else e.value[I] = compute<Pass, Choice, I>(r, e, typename base::template operands_of<I>{});
      if constexpr (does == action::keep && Choice != at_choice::there) base::template store<x.access, Partial>(args, p, e.value[I], i, n);
    } else if constexpr (does == action::store) {
      if constexpr (x.is_mask) base::template store_mask<x.access>(args, p, read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]), i, n);
      else base::template store<x.access, Partial>(args, p, read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]), i, n);
    } else if constexpr (does == action::reduce_columns) {
      using to = element_of_t<k.access[x.access].type>;
      static_assert(std::is_same_v<to, T>);
      T* at_column = static_cast<T*>(args.pointer[x.access]) + p.offset[x.access] + i;
      const P v = read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]);
      if constexpr (columns_in_registers || adds_several_rows) total.packet[I][0] = ops::combine<at(I).reduction()>(total.packet[I][0], v);
      else base::template store_column<Partial>(at_column, ops::combine<at(I).reduction()>(base::template load_column<Partial>(at_column, n), v), n);
    } else {
      P v = read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]);
      if constexpr (Partial) {
        const P nothing = math::set1<P>(ops::identity<at(I).reduction(), T>());
        v = math::select(math::lt(base::template lane_index<>(), math::set1<P>(static_cast<T>(n))), v, nothing);
      }
      total.packet[I][Way] = ops::combine<at(I).reduction()>(total.packet[I][Way], v);
    }
  }

  /// Prefetches the lines that the next pass stores, while a pass computes (a softmax gains 3 %); and the lines of the next row that the first pass
  /// reads, while the last pass stores this row. The processor's own prefetching stops at the end of a page, and a row of 4 KiB is a page. A softmax
  /// gains 3 %, a cross entropy 5 %, a layer norm 8 %.
  template <int Pass>
  static TENURE_LAYER void prefetch(const local_arguments& args, const position& p, std::int64_t i) {
    if constexpr (Pass + 1 < record::passes) prefetch_each<kind::store>(args, p, i, those<part::elements, Pass + 1>{});
    else if constexpr (Pass > 0 && record::outer > 0) prefetch_each<kind::load>(args, p, i, those<part::elements, 0>{});
  }
  template <kind What, int... I>
  static TENURE_LAYER void prefetch_each(const local_arguments& args, const position& p, std::int64_t i, std::integer_sequence<int, I...>) {
    ([&] {
      constexpr auto x = at(I);
      if constexpr (x.what == What && !x.is_mask) {
        constexpr auto a = k.access[x.access];
        const auto* const line = static_cast<const element_of_t<a.type>*>(args.pointer[x.access]) + p.offset[x.access] + i;
        if constexpr (What == kind::store) __builtin_prefetch(line, 1);
        else if constexpr (!a.counting && a.stride[last] == 1) __builtin_prefetch(line + number_of(args, base::stride(x.access, record::outer - 1)));
      }
    }(), ...);
  }

  template <int Pass, at_choice Choice, int I, int... K>
  static TENURE_LAYER auto compute(const row_state& r, const element_state& e, places<K...>) {
    constexpr auto x = at(I);
    constexpr bool elsewhere = Choice == at_choice::elsewhere, adds = elsewhere && x.op == ops::code_of<ops::add>();
    if constexpr (x.op == ops::code_of<ops::where>() && x.in[0] == mask_of_sums(Pass)) {
      return read<Code, held_in<Code>(x.in[1])>(r, e, x.in[1]);  // the pass runs only where the mask is true
    } else if constexpr (elsewhere && is_choice(I)) {
      return math::mask_set<P>(false);
    } else if constexpr (elsewhere && is_zero_elsewhere(I)) {
      return read<Code, held_in<Code>(x.in[2])>(r, e, x.in[2]);
    } else if constexpr (adds && is_zero_elsewhere(x.in[0])) {
      return read<Code, held_in<Code>(x.in[1])>(r, e, x.in[1]);
    } else if constexpr (adds && is_zero_elsewhere(x.in[1])) {
      return read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]);
    } else if constexpr (ops::is_pointwise(x.op)) {
      return ops::operation_of<x.op>::evaluate(read<Code, held_in<Code>(x.in[K])>(r, e, x.in[K])...);
    } else {
      return program_detail::copied<P, x.is_mask, at(x.in[0]).is_mask, base::rounds_to(I)>(read<Code, held_in<Code>(x.in[0])>(r, e, x.in[0]));
    }
  }

  template <int... I>
  static TENURE_LAYER void store_chosen(const local_arguments& args, const position& p, const row_state& r, const element_state& e,
                                        std::int64_t i, int n, std::integer_sequence<int, I...>) {
    ([&] {
      if constexpr (at(I).what == kind::store && decided.at[I]) base::template store<at(I).access, true>(args, p, read<Code, held_in<Code>(at(I).in[0])>(r, e, at(I).in[0]), i, n);
    }(), ...);
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
