// SPDX-License-Identifier: BSL-1.0
// What the functions and the arguments of loops and branches have to be: a static_assert for each mistake.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tenure/transform/body_trace.hpp>

namespace TENURE_NAMESPACE::detail {

template <class X>
constexpr common_axis leading_axis_of() {
  common_axis found;
  found.look<X>(0);
  return found;
}

/// Whether a body returns a carry like the one it takes. If not, a static_assert gives the reason. The compiler prints both types.
template <class Taken, class Returned>
constexpr bool is_carry() {
  static_assert(std::is_same_v<Taken, Returned>, "tenure: loop: the function returns a carry of another element type, shape or tree than it takes: begin with a value of that type, as 0.0 in place of 0");
  return std::is_same_v<Taken, Returned>;
}
template <class First, class Second>
constexpr bool are_branches() {
  static_assert(std::is_same_v<First, Second>, "tenure: cond: the branches return different element types, shapes or trees");
  return std::is_same_v<First, Second>;
}
template <class X>
constexpr bool is_condition() {
  constexpr bool is_bool = std::is_same_v<X, traced<bool, shape<>>>;
  static_assert(is_bool, "tenure: loop: a condition is one traced bool, as x < 3 gives for a number x");
  return is_bool;
}
/// Extents as messages print them: extent<8>, n for one that is known at run time, or name<'b', 'a', 't', 'c', 'h'>.
namespace printed {
template <std::int64_t>
struct extent {};
struct n {};
template <char...>
struct name {};
}  // namespace printed
template <std::int64_t E, std::size_t... I>
constexpr auto printed_name(std::index_sequence<I...>) { return printed::name<static_cast<char>(E >> (8 * I) & 0x7f)...>{}; }
template <std::int64_t E>
constexpr auto printed_extent() {
  constexpr std::size_t length = [] {
    std::size_t i = 0;
    while (i < 8 && (E >> (8 * i) & 0x7f) != 0) ++i;
    return i;
  }();
  if constexpr (is_static(E)) return printed::extent<E>{};
  else if constexpr (E == dyn) return printed::n{};
  else return printed_name<E>(std::make_index_sequence<length>{});
}
template <class Xs, int Leaf>
inline constexpr std::int64_t leading_extent = [] {
  leaf_description leaves[tree<Xs>::leaves + 1];
  leaf_description* end = leaves;
  tree<Xs>::describe(end);
  return leaves[Leaf].shape[0];
}();
template <class... Extent>
constexpr void agree_along_axis_0() {
  static_assert(sizeof...(Extent) == 0, "tenure: scan: the scanned values have different extents along axis 0: layers beside states are an array of tuples");
}

template <class Xs>
constexpr bool is_scanned() {
  constexpr common_axis axis = leading_axis_of<Xs>();
  static_assert(tree<Xs>::leaves > 0, "tenure: scan: there is nothing to scan: fori_loop takes a number of iterations");
  static_assert(axis.exists, "tenure: scan: a number has no axis to scan");
  if constexpr (axis.exists && !axis.agrees)
    [&]<int... I>(std::integer_sequence<int, I...>) { agree_along_axis_0<decltype(printed_extent<leading_extent<Xs, I>>())...>(); }(std::make_integer_sequence<int, tree<Xs>::leaves>{});
  return tree<Xs>::leaves > 0 && axis.exists && axis.agrees;
}
/// Whether f(x...) is a call of a function. A tensor is not a function: its x(0) is an element.
template <class F, class... X>
constexpr bool callable_with() {
  if constexpr (is_tree_leaf<F>) return false;
  else return requires(const F& f, const X&... x) { f(x...); };
}
/// Whether a function of a loop or a branch has the parameters that it is called with. If not, a static_assert names them.
template <class F, class Carry, class Slice>
constexpr bool takes_carry_and_slice() {
  constexpr bool takes = callable_with<F, Carry, Slice>();
  static_assert(takes, "tenure: scan: the function takes the carry and a slice: [](auto carry, auto x) { ... }");
  return takes;
}
template <class F, class Carry>
constexpr bool takes_iteration_and_carry() {
  constexpr bool takes = callable_with<F, traced<std::int64_t, shape<>>, Carry>();
  static_assert(takes, "tenure: fori_loop: the function takes the number of the iteration and the carry: [](auto i, auto carry) { ... }");
  return takes;
}
template <class Condition, class F, class Carry>
constexpr bool both_take_carry() {
  constexpr bool condition_takes = callable_with<Condition, Carry>(), function_takes = callable_with<F, Carry>();
  static_assert(condition_takes, "tenure: while_loop: the condition takes one argument, the carry: [](auto carry) { ... }");
  static_assert(function_takes, "tenure: while_loop: the function takes one argument, the carry: [](auto carry) { ... }");
  return condition_takes && function_takes;
}
template <class F, class G, class... X>
constexpr bool branches_take() {
  constexpr bool first_takes = callable_with<F, X...>(), second_takes = callable_with<G, X...>();
  static_assert(first_takes, "tenure: cond: the first branch does not take the values after the branches: cond(flag, f, g, x, y) calls f(x, y)");
  static_assert(second_takes, "tenure: cond: the second branch does not take the values after the branches: cond(flag, f, g, x, y) calls g(x, y)");
  return first_takes && second_takes;
}
template <std::size_t Case, class F, class... X>
constexpr bool case_takes() {
  constexpr bool takes = callable_with<F, X...>();
  static_assert(takes, "tenure: switch_case: the function of this Case does not take the values after the functions: switch_case(i, f, g, x, y) calls f(x, y) or g(x, y)");
  return takes;
}
template <class... X, class... F, std::size_t... Case>
constexpr bool cases_take(const std::tuple<F...>*, std::index_sequence<Case...>) { return (case_takes<Case, F, X...>() && ...); }
/// Whether a body of scan returns a pair. If not, a static_assert gives the reason.
template <class R>
constexpr bool is_carry_and_y() {
  constexpr bool is_pair = has_tuple_parts_of<R, 2>;
  static_assert(is_pair, "tenure: scan: the function returns {carry, y}: std::tuple{carry, y}, and tn::nothing as y if there is none");
  if constexpr (is_pair) {
    constexpr bool are_values = tree<R>::is_tree;
    static_assert(are_values, "tenure: scan: the carry or y that the function returns is neither a value, a tuple, an array nor a model: y is tn::nothing if there is none, and an expression of constants begins with tn::ones_like(x)");
    return are_values;
  }
  return is_pair;
}
template <class Flag>
constexpr bool is_flag() {
  constexpr bool is_bool = std::is_same_v<Flag, traced<bool, shape<>>>;
  static_assert(is_bool, "tenure: cond: the flag is one bool");
  return is_bool;
}
template <class Index>
constexpr bool is_index() {
  constexpr bool is_integer = std::is_same_v<Index, traced<std::int64_t, shape<>>> || std::is_same_v<Index, traced<std::int32_t, shape<>>>;
  static_assert(is_integer, "tenure: switch_case: the index is one integer");
  return is_integer;
}
/// Whether the functions of a switch return one type. If not, a static_assert gives the reason.
template <class First, class... Rest>
constexpr bool are_cases() {
  constexpr bool same = (std::is_same_v<First, Rest> && ...);
  static_assert(same, "tenure: switch_case: the functions return different element types, shapes or trees");
  return same;
}
template <class N>
constexpr bool is_count() {
  constexpr bool is_integer = [] {
    if constexpr (is_traced_v<N>) return std::is_integral_v<typename N::element_type> && N::shape_type::rank == 0;
    else return std::is_integral_v<N>;
  }();
  static_assert(is_integer, "tenure: fori_loop: the number of iterations is no integer");
  return is_integer;
}
template <class... F>
constexpr bool are_functions() {
  constexpr bool are = (!is_tree_leaf<F> && ...);
  static_assert(are, "tenure: loop: a value stands in the place of a function: scan(f, init, xs), fori_loop(n, f, init), while_loop(condition, f, init), cond(flag, f, g, x)");
  return are;
}
/// Whether a call without traced values got functions, and their types determine what they compute. If not, a static_assert gives the reason.
template <class... F>
constexpr bool runs_at_once() {
  constexpr bool captures_nothing = (std::is_empty_v<F> && ...);
  static_assert(captures_nothing || !are_functions<F...>(), "tenure: loop: no argument is traced, so the call runs at once, and its functions capture nothing: in a trace begin with tn::full_like(x, 0.0) in place of 0.0, elsewhere pass values as arguments");
  return are_functions<F...>() && captures_nothing;
}
/// The result of a call that runs_at_once() refuses.
template <class X>
constexpr auto stand_in_for([[maybe_unused]] const X& x) {
  if constexpr (scalar<X>) return x;
  else return after_error();
}

}  // namespace tenure::detail
