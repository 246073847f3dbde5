// SPDX-License-Identifier: BSL-1.0
// dynamic_slice and dynamic_update: a block of a tensor at a position that is known only when the program runs. In a trace they append
// nodes, see ops/block.hpp. Called with tensors, they compile a function that has only this operation.
// Source: the names and the order of jax.lax.dynamic_slice and dynamic_update_slice. A start out of range is an error here, and is not clamped.
#pragma once

#include <tenure/ops/block.hpp>
#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/in_memory.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The starts as a tuple.
template <class Start>
constexpr auto starts_of(const Start& start) {
  if constexpr (is_tree_leaf<Start>) return std::tuple<Start>{start};
  else return start;
}
template <class X>
inline constexpr bool is_start = false;
template <class T, class S>
inline constexpr bool is_start<traced<T, S>> = std::is_integral_v<T> && !std::is_same_v<T, bool> && S::rank == 0;

/// Whether all lengths are static, and at most the extents of the axes of X.
template <class X, class Lengths>
constexpr bool fits_in() {
  for (int a = 0; a < X::rank; ++a)
    if (!is_static(Lengths::value[a]) || (is_static(X::value[a]) && Lengths::value[a] > X::value[a])) return false;
  return true;
}
/// Whether there is a block of X at these starts. If not, a static_assert gives the reason.
template <class X, class Lengths, class... Start>
constexpr bool is_block() {
  constexpr bool has_all = sizeof...(Start) == X::rank && Lengths::rank == X::rank;
  static_assert(has_all, "tenure: dynamic_slice, dynamic_update: needs one start and one extent for each axis");
  constexpr bool are_integers = (is_start<Start> && ...);
  static_assert(are_integers, "tenure: dynamic_slice, dynamic_update: a start is one integer");
  if constexpr (has_all && are_integers) {
    constexpr bool fits = fits_in<X, Lengths>();
    static_assert(fits, "tenure: dynamic_slice, dynamic_update: an extent of the block is not known, or larger than its axis");
    return fits;
  }
  return false;
}

template <class Lengths, class X, class... Start>
constexpr auto slice_at(const X& x, const std::tuple<Start...>& starts) {
  if constexpr (!is_block<typename X::shape_type, Lengths, Start...>()) return traced<typename X::element_type, Lengths>{x.graph, ops::value(x).id};
  else return std::apply([&](const auto&... start) { return ops::dynamic_slice<Lengths>::trace(x, ops::as_index(start)...); }, starts);
}
template <class X, class Y, class... Start>
constexpr X update_at(const X& x, const Y& y, const std::tuple<Start...>& starts) {
  constexpr bool same_type = std::is_same_v<typename X::element_type, typename Y::element_type>;
  static_assert(std::is_same_v<typename X::element_type, typename Y::element_type>, "tenure: dynamic_update: the update has another element type than the tensor");
  if constexpr (!same_type) return x;
  else if constexpr (!is_block<typename X::shape_type, typename Y::shape_type, Start...>()) return x;
  else return std::apply([&](const auto&... start) { return ops::dynamic_update::trace(x, y, ops::as_index(start)...); }, starts);
}

template <class Lengths>
struct slice_call {
  template <class X, class Start>
  constexpr auto operator()(const X& x, const Start& start) const { return slice_at<Lengths>(x, starts_of(start)); }
};
struct update_call {
  template <class X, class Y, class Start>
  constexpr auto operator()(const X& x, const Y& y, const Start& start) const { return update_at(x, y, starts_of(start)); }
};

}  // namespace detail

/// The elements of x from `start` on, `lengths` along each axis. start is an integer if x has one axis, else a tuple of integers, traced or not.
/// Errors: index_error before any result is written, if the block does not lie inside x. tn::clamp keeps a start inside.
/// Cost: a copy of the block. Along an axis with a constant start the block is a view.
template <class X, class Start, std::int64_t... E>
constexpr auto dynamic_slice(const X& x, const Start& start, [[maybe_unused]] shape<E...> lengths) {
  using call = detail::slice_call<shape<E...>>;
  if constexpr (detail::in_trace<X, Start>) {
    ir::builder& g = detail::graph_of_arguments(x, start);
    return call{}(detail::as_traced(g, x), detail::as_traced(g, start));
  } else {
    return compile(call{})(detail::in_memory(x), start);
  }
}

/// x with its elements from `start` on replaced by y. y has as many axes as x. Errors: as dynamic_slice.
/// Cost: a copy of y into x itself if nothing reads x afterwards (a loop that carries x, into(x)), else into a copy of x. If y starts at run-time
/// positions along two or more axes, the rows of the first such axis in which y lies are copied too, unless y has extent 1 along all axes from that
/// one to the one before the last. If x has at most 64 elements, and y has extent 1 along each axis of a start: a fused pass over x.
template <class X, class Y, class Start>
[[nodiscard]] constexpr auto dynamic_update(const X& x, const Y& y, const Start& start) {
  if constexpr (detail::in_trace<X, Y, Start>) {
    ir::builder& g = detail::graph_of_arguments(x, y, start);
    return detail::update_call{}(detail::as_traced(g, x), detail::as_traced(g, y), detail::as_traced(g, start));
  } else {
    return compile(detail::update_call{})(detail::in_memory(x), detail::in_memory(y), start);
  }
}

}  // namespace tenure
