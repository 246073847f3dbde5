// SPDX-License-Identifier: BSL-1.0
// Factories in a trace whose extents are traced numbers: zeros(shape<dyn, 3>{}, extent<0>(x)). Such a number is extent<A>(x), also plus, minus or
// times an integer, or floor_divide by an integer.
// Law: the same factory gives the same elements outside a trace.
#pragma once

#include <tenure/ops/like.hpp>
#include <tenure/ops/subscript.hpp>
#include <tenure/tensor/factories.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class N>
inline constexpr bool is_integer_of_trace = std::is_integral_v<N>;
template <class T>
inline constexpr bool is_integer_of_trace<traced<T, shape<>>> = std::is_integral_v<T>;

/// Whether integers follow a shape, one for each run-time extent. If not, a static_assert gives the reason.
template <class Shape, class... N>
constexpr bool are_extents_of() {
  constexpr bool are_integers = (is_integer_of_trace<N> && ...), are_enough = sizeof...(N) == dynamic_count_of<Shape>;
  static_assert(are_integers, "tenure: shape: an extent is no integer, as n / 2 is none in a trace: half of an extent n is tn::floor_divide(n, 2)");
  static_assert(are_enough, "tenure: shape: one integer is needed for each dyn and each name of the shape");
  return are_integers && are_enough;
}
template <class N>
constexpr std::int64_t extent_from(const N& n) {
  if constexpr (is_traced_v<N>) return extent_of_number(n, ir::diagnostic::kind::made_extent);
  else return static_cast<std::int64_t>(n);
}

template <class T, class Shape, class... N>
constexpr traced<T, Shape> made_in_trace(const constant_block& elements, const N&... n) {
  ir::builder* g = nullptr;
  ((g = is_traced_v<N> ? graph_of(n) : g), ...);
  if constexpr (!are_extents_of<Shape, N...>()) {
    return zeros_after_error<T, Shape>(*g);
  } else {
    const std::int64_t given[] = {extent_from(n)...};
    constexpr bool is_plain[] = {!is_traced_v<N>...};
    extents s = Shape::value;
    int next = 0;
    for (int i = 0; i < s.rank; ++i) {
      if (is_static(s[i])) continue;
      const int first = first_of_name(Shape::value, i);
      if (first == i && is_plain[next] && given[next] < 0) {  // a negative number in a graph is a run-time extent
        g->refuse({ir::diagnostic::kind::made_extent});
        return zeros_after_error<T, Shape>(*g);
      }
      s[i] = first == i ? given[next++] : s[first];
      if (s[i] == no_extent) return zeros_after_error<T, Shape>(*g);
      if (!is_static(s[i])) g->require_at_least(s[i], 0, "shape");
    }
    return made_by_factory<T, Shape>(*g, elements, s);
  }
}

}  // namespace detail

/// In a trace an extent may be a traced number: tn::extent<A>(x), also plus, minus or times an integer, or floor_divide by an integer. The result is
/// a traced value, to which no gradient flows. Errors: an extent that is another traced number does not compile.
template <element T = float, any_shape Shape, scalar U, class... N>
  requires(is_traced_v<N> || ...)
constexpr traced<T, Shape> full(Shape, U value, const N&... n) {
  detail::constant_block like;
  like.fill_with(number::convert<T>(value));
  return detail::made_in_trace<T, Shape>(like, n...);
}
template <element T = float, any_shape Shape, class... N>
  requires(is_traced_v<N> || ...)
constexpr traced<T, Shape> zeros(Shape s, const N&... n) { return full<T>(s, T(0), n...); }
template <element T = float, any_shape Shape, class... N>
  requires(is_traced_v<N> || ...)
constexpr traced<T, Shape> ones(Shape s, const N&... n) { return full<T>(s, T(1), n...); }
/// The values 0, 1, ..., n - 1 for such an extent n.
template <element T = float, any_shape Shape, class N>
  requires is_traced_v<N>
constexpr traced<T, Shape> arange(Shape, const N& n) {
  static_assert(Shape::rank == 1, "tenure: arange: the shape does not have one axis");
  detail::constant_block like;
  like.what = detail::constant_block::pattern::counted, like.step = 1;
  return detail::made_in_trace<T, Shape>(like, n);
}
/// A matrix with ones on the diagonal and such extents.
template <element T = float, any_shape Shape, class... N>
  requires(is_traced_v<N> || ...)
constexpr traced<T, Shape> eye(Shape, const N&... n) {
  static_assert(Shape::rank == 2, "tenure: eye: the shape does not have two axes");
  detail::constant_block like;
  like.what = detail::constant_block::pattern::diagonal;
  return detail::made_in_trace<T, Shape>(like, n...);
}
/// Evenly spaced values from `first` to `last`. Their number is such an extent.
template <element T = float, any_shape Shape, scalar A, scalar B, class N>
  requires is_traced_v<N>
constexpr traced<T, Shape> linspace(Shape, A first, B last, const N& n) {
  static_assert(Shape::rank == 1, "tenure: linspace: the shape does not have one axis");
  detail::constant_block like;
  detail::describe_linspace(like, first, last);
  return detail::made_in_trace<T, Shape>(like, n);
}

}  // namespace tenure
