// SPDX-License-Identifier: BSL-1.0
// x[i] and x.at(i, all, range<0, 4>()) of a traced value, as of a tensor. An integer drops its axis. A C++ loop over i runs while tracing.
// Bounds must be known while tracing: range<I, J, Step>() and window<N>(i), not range(i, j). The indexed axes have static extents.
// Errors: an index outside its axis is noted in the graph. The call of the function then reports it with its numbers.
#pragma once

#include <tenure/ops/structure.hpp>
#include <tenure/tensor/indexing.hpp>
#include <tenure/tensor/later.hpp>

namespace TENURE_NAMESPACE::detail {

template <class I>
inline constexpr bool is_run_time_range = false;
template <>
inline constexpr bool is_run_time_range<index_range> = true;

template <class S, class... I>
constexpr bool takes_from_static_axes() {
  int axis = 0;
  return ((std::is_same_v<I, all_of_axis> ? (++axis, true) : is_static(S::value[axis++])) && ...);
}

/// Takes the elements that one index names from axis `axis`, and goes to the next axis.
template <std::integral I>
constexpr ops::value subscript_axis(ops::value x, int axis, I i) {
  const std::int64_t at = x.graph->require_inside(static_cast<std::int64_t>(i), x.shape()[axis]);
  return ops::reshape_to(ops::sliced(x, axis, at, 1, 1), ops::without_axes(x.shape(), std::int64_t{1} << axis));
}
constexpr ops::value subscript_axis(ops::value x, int, all_of_axis) { return x; }
template <std::int64_t First, std::int64_t Last, std::int64_t Step>
constexpr ops::value subscript_axis(ops::value x, int axis, static_range<First, Last, Step> r) {
  return ops::sliced(x, axis, First, r.size, Step);
}
template <std::int64_t N>
constexpr ops::value subscript_axis(ops::value x, int axis, index_window<N> w) {
  const std::int64_t extent = x.shape()[axis], last = x.graph->require_inside(w.first < 0 ? w.first : w.first + N - 1, extent);
  return ops::sliced(x, axis, last < N - 1 ? 0 : last - N + 1, N, 1);
}

/// Whether a trace can apply the indices I to the shape S. If not, a static_assert gives the reason.
template <class S, class... I>
constexpr bool is_subscript() {
  constexpr bool has_constant_bounds = (!is_run_time_range<I> && ...);
  static_assert(has_constant_bounds, "tenure: at: in a trace a range has constant bounds: write range<0, 4>()");
  constexpr bool is_known = takes_from_static_axes<S, I...>();
  static_assert(is_known, "tenure: at: in a trace only an axis of static extent is indexed");
  return has_constant_bounds && is_known;
}

template <class X, class... I>
constexpr auto subscript(later_phase, const X& x, const I&... index) {
  using S = typename X::shape_type;
  if constexpr (!are_indices<S, I...>()) {
    return x;
  } else if constexpr (!is_subscript<S, I...>()) {
    return x;
  } else {
    ops::value v = x;
    [[maybe_unused]] int axis = 0;
    ((v = subscript_axis(v, axis, index), axis += !index_rule<I>::drops), ...);
    return traced<typename X::element_type, shape_from<indexed_shape<S, I...>>>{x.graph, v.id};
  }
}

}  // namespace tenure::detail
