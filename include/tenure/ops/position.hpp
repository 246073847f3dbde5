// SPDX-License-Identifier: BSL-1.0
// Operations that use the position of an element: index_along, tril, triu, argmax, argmin, max and min along axes, take_along.
// Positions are exact and computed in registers. Where the element type represents all positions, they have this type, and the whole
// expression fuses. Otherwise they are int64, and the result of their comparison goes through memory as bool.
#pragma once

#include <tenure/ops/indexing.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// 0, 1, 2, ... along an axis, in the shape of x. No gradient flows to x.
template <int A, class T = std::int64_t>
struct index_along {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: index_along: the axis lies outside the tensor's rank"); }
  static constexpr bool reaches(int) { return false; }
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr int at = axis_position<index_along, X::shape_type::rank, A>::value;
    return traced<T, typename X::shape_type>{x.graph, counting(*x.graph, dtype_v<T>, value(x).node().shape, at).id};
  }
};

/// x with zeros above the Kth diagonal of the last two axes (Upper: below it).
template <bool Upper, int K>
struct triangle {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr int rank = X::shape_type::rank;
    static_assert(rank >= 2, "tenure: tril, triu: need at least two axes");
    if constexpr (rank < 2) return x;
    using T = typename X::element_type;
    ir::builder& g = *x.graph;
    const dtype of_rows = position_dtype<T>(g, value(x).shape()[rank - 2], "tril, triu"), of_columns = position_dtype<T>(g, value(x).shape()[rank - 1], "tril, triu");
    const dtype type = of_rows == dtype_v<T> ? of_columns : of_rows;
    const std::int16_t shape = value(x).node().shape;
    const value above = counting(g, type, shape, rank - 1) - counting(g, type, shape, rank - 2), bound = above.like(K);
    const value kept = Upper ? pointwise_value<greater_equal>(above, bound) : pointwise_value<less_equal>(above, bound);
    return X{&g, pointwise_value<where>(kept, x, value(x).like(0)).id};
  }
};

namespace detail {
/// For the axes of a mask: the positions of elements in row-major order of these axes, the number of positions, and an element type for them.
template <class X, std::int64_t Mask>
struct places {
  static constexpr std::int64_t count = [] {
    std::int64_t n = 1;
    for (int a = 0; a < X::shape_type::rank; ++a)
      if (Mask >> a & 1) n = is_static(n) && is_static(X::shape_type::value[a]) ? n * X::shape_type::value[a] : dyn;
    return n;
  }();
  using type = element_of_t<position_dtype<typename X::element_type>(count)>;

  static constexpr auto trace(const X& x) {
    ir::builder& g = *x.graph;
    const std::int16_t shape = value(x).node().shape;
    const value place = row_major_place(g, dtype_v<type>, x.shape(), shape, [&](int a) { return Mask >> a & 1 ? counting(g, dtype_v<type>, shape, a) : value(); }).place;
    return traced<type, typename X::shape_type>{&g, place.id == ir::none ? value(x).like(0).id : place.id};
  }
};

/// The elements of x at int64 positions along an axis. Other axes of the positions have the extents of x. Unless `are_inside` is true, the program
/// checks the positions, and the message names `call`.
constexpr value taken_along(value x, value positions, int axis, const char* call, bool are_inside) {
  ir::builder& g = *x.graph;
  const std::int16_t shape = positions.node().shape;
  const row_major at = row_major_place(g, dtype::int64, x.shape(), shape, [&](int a) { return a == axis ? positions : counting(g, dtype::int64, shape, a); });
  const ir::bound inside{at.place.id, at.count, call, are_inside};  // nvcc 13 garbles g.check_bound({...})
  g.check_bound(inside);
  return gathered(reshape_to(x, {1, {at.count}}), at.place, 0);
}

/// The place of the first extremum along axes, or of the first NaN. The axes are kept with extent 1.
template <ir::reduction Kind, int... A, class Place, class X>
constexpr auto first_extremum(const Place& place, const X& x) {
  using P = typename Place::element_type;
  const auto wins = logical_or::trace(equal::trace(x, reduce<Kind, true, A...>::trace(x)), not_equal::trace(x, x));
  const double past_all = std::is_same_v<P, std::int32_t> ? 0x7fffffff : 0x1p53;
  return reduce<ir::reduction::min, true, A...>::trace(where::trace(wins, place, std::remove_const_t<Place>{x.graph, value(place).like(past_all).id}));
}
}  // namespace detail

/// The position of the largest (smallest) element along axes. Among equal elements it is the first one.
template <ir::reduction Kind, bool Keep, int... A>
struct arg_extremum {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Kind != ir::reduction::max, "tenure: argmax: an axis lies outside the tensor's rank");
    static_assert(is_inside || Kind != ir::reduction::min, "tenure: argmin: an axis lies outside the tensor's rank");
  }
  template <bool Holds, int...>
  static constexpr void has_each_once() {
    static_assert(Holds || Kind != ir::reduction::max, "tenure: argmax: an axis is named twice");
    static_assert(Holds || Kind != ir::reduction::min, "tenure: argmin: an axis is named twice");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr std::int64_t mask = axis_mask<arg_extremum, S::rank, A...>::value;
    using result = traced<std::int64_t, shape_from<reduced_shape<S, mask, Keep>>>;
    detail::require_axes_with_elements<S, mask>();
    detail::require_elements(x, mask, Kind == ir::reduction::max ? "argmax" : "argmin");
    if constexpr (!axis_mask<arg_extremum, S::rank, A...>::is_valid) {
      return x;
    } else if constexpr (mask == 0) {
      return result{x.graph, x.graph->constant_bits(dtype::int64, value(x).node().shape, 0)};
    } else {
      const value first = detail::first_extremum<Kind, A...>(detail::places<X, mask>::trace(x), x);
      return result{x.graph, cast_to(Keep ? first : reshape_to(first, without_axes(x.shape(), mask)), dtype::int64).id};
    }
  }
};

/// The largest (smallest) element along axes. At a tie the first element gets all of the gradient. In amax, and where no axis is named, equal
/// elements share the gradient, as in PyTorch.
template <ir::reduction Kind, bool Keep, int... A>
struct extremum {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Kind != ir::reduction::max, "tenure: max: an axis lies outside the tensor's rank");
    static_assert(is_inside || Kind != ir::reduction::min, "tenure: min: an axis lies outside the tensor's rank");
  }
  template <bool Holds, int...>
  static constexpr void has_each_once() {
    static_assert(Holds || Kind != ir::reduction::max, "tenure: max: an axis is named twice");
    static_assert(Holds || Kind != ir::reduction::min, "tenure: min: an axis is named twice");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr std::int64_t mask = axis_mask<extremum, S::rank, A...>::value;
    detail::require_axes_with_elements<S, mask>();
    detail::require_elements(x, mask, Kind == ir::reduction::max ? "max" : "min");
    if constexpr (!axis_mask<extremum, S::rank, A...>::is_valid) {
      return x;
    } else if constexpr (sizeof...(A) == 0) {
      return reduce<Kind, Keep>::trace(x);
    } else {
      const auto place = detail::places<X, mask>::trace(x);
      const auto chosen = equal::trace(place, detail::first_extremum<Kind, A...>(place, x));
      value found = chosen_along(chosen, x, mask);
      if (Keep) found = reshape_to(found, with_ones(x.shape(), mask));
      return traced<typename X::element_type, shape_from<reduced_shape<S, mask, Keep>>>{x.graph, found.id};
    }
  }
};
template <ir::reduction Kind>
struct extreme {
  template <bool Keep, int... A>
  using value = extremum<Kind, Keep, A...>;
  template <bool Keep, int... A>
  using position = arg_extremum<Kind, Keep, A...>;
};

/// result[..., j, ...] = x[..., indices[..., j, ...], ...] (NumPy's take_along_axis, PyTorch's gather). Cost for each row: the product of both
/// extents along the axis. For a static extent of 64 or more it is a gather.
template <int A>
struct take_along {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: take_along: the axis lies outside the tensor's rank"); }
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& indices) {
    require_integer_indices<I>();
    using S = typename X::shape_type;
    constexpr int at = axis_position<take_along, S::rank, A>::value;
    constexpr bool same_rank = S::rank == I::shape_type::rank;
    static_assert(same_rank, "tenure: take_along: indices and operand have different ranks");
    if constexpr (same_rank && axis_position<take_along, S::rank, A>::is_inside) return taken<at>(x, indices);
    else return x;
  }

 private:
  /// From this extent on, a read at a computed position costs less than a comparison with every position, although the comparison fuses.
  static constexpr std::int64_t min_gathered = 64;
  template <int at, class S, class J>
  static constexpr bool reads_positions = [] {
    bool reads = S::is_static && J::is_static && S::value[at] >= min_gathered;
    for (int d = 0; d < S::rank; ++d) reads = reads && (d == at || S::value[d] == J::value[d]);
    return reads;
  }();

  template <int at, class X, class I>
  static constexpr auto taken(const X& x, const I& indices) {
    ir::builder& g = *x.graph;
    x.graph->check_bound({indices.id, value(x).shape()[at], "take_along"});
    if constexpr (reads_positions<at, typename X::shape_type, typename I::shape_type>) {
      return traced<typename X::element_type, typename I::shape_type>{&g, detail::taken_along(x, cast_to(indices, dtype::int64), at, "take_along", false).id};
    } else {
      const auto source = stack<at>::unsqueeze(x);
      using position = element_of_t<position_dtype<typename X::element_type>(X::shape_type::value[at])>;
      const auto wanted = cast<position>::trace(stack<at + 1>::unsqueeze(indices));
      const auto chosen = equal::trace(index_along<at + 1, position>::trace(source), wanted);
      using result = shape_from<dropped_axis<typename std::remove_const_t<decltype(chosen)>::shape_type, at + 1>>;
      return traced<typename X::element_type, result>{&g, chosen_along(chosen, broadcast_to(source, value(chosen).node().shape), std::int64_t{1} << (at + 1)).id};
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The positions 0, 1, 2, ... along axis A, as int64 in the shape of x. No gradient flows to x.
template <int A, operand_or_scalar X> constexpr auto index_along(const X& x) { return apply<ops::index_along<A>>(x); }
/// The lower or upper triangle of the last two axes: the other elements become 0. The diagonal K belongs to both. K > 0 lies above the main
/// diagonal. x has at least two axes.
template <int K = 0, operand_or_scalar X> constexpr auto tril(const X& x) { return apply<ops::triangle<false, K>>(x); }
template <int K = 0, operand_or_scalar X> constexpr auto triu(const X& x) { return apply<ops::triangle<true, K>>(x); }
/// The int64 position of the largest or smallest element: of all elements, along axis<A>, or along axes<A, B>. keepdim after the axes keeps them.
/// Along several axes it is the position in row-major order. The first of equal elements wins, and a NaN wins over every number. An empty axis does
/// not compile, or throws at the call if its extent is a run-time one. No gradient flows.
template <operand_or_scalar X, class... Along> constexpr auto argmax(const X& x, const Along&...) { return apply<typename ops::along<ops::extreme<ir::reduction::max>::position, Along...>::type>(x); }
template <operand_or_scalar X, class... Along> constexpr auto argmin(const X& x, const Along&...) { return apply<typename ops::along<ops::extreme<ir::reduction::min>::position, Along...>::type>(x); }
/// The largest or smallest element: of all elements, along axis<A>, or along axes<A, B>. keepdim after the axes keeps them. NaN and empty axes: as
/// argmax. At a tie along axes the first element, in row-major order, gets all of the gradient (PyTorch's max(dim)). Without axes equal elements
/// share the gradient, as in amax and amin. maximum(x, y) compares two values.
template <operand_or_scalar X, class... Along>
constexpr auto max(const X& x, const Along&...) {
  constexpr bool is_value = ((operand<Along> || std::is_floating_point_v<Along>) || ...);
  static_assert(!is_value, "tenure: max: it works along an axis, axis<0>: for two values call maximum(x, y)");
  if constexpr (is_value) return apply<ops::amax<false>>(x);
  else return apply<typename ops::along<ops::extreme<ir::reduction::max>::value, Along...>::type>(x);
}
template <operand_or_scalar X, class... Along>
constexpr auto min(const X& x, const Along&...) {
  constexpr bool is_value = ((operand<Along> || std::is_floating_point_v<Along>) || ...);
  static_assert(!is_value, "tenure: min: it works along an axis, axis<0>: for two values call minimum(x, y)");
  if constexpr (is_value) return apply<ops::amin<false>>(x);
  else return apply<typename ops::along<ops::extreme<ir::reduction::min>::value, Along...>::type>(x);
}
/// result[..., j, ...] = x[..., indices[..., j, ...], ...] along axis A. The indices are int32 or int64, and have the rank of x. Other axes
/// broadcast. Errors: index_error for an index outside the axis. Cost for each row: the product of both extents along the axis. For a static extent
/// of 64 or more it is one read for each index.
template <int A, operand_or_scalar X, class I> constexpr auto take_along(const X& x, const I& indices) { return apply<ops::take_along<A>>(x, indices); }

}  // namespace tenure
