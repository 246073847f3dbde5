// SPDX-License-Identifier: BSL-1.0
// Operations that ask where an element stands: index_along, tril, triu, argmax, argmin, max and min along an axis,
// take_along. Positions are counted in registers, so all of them fuse.
#pragma once

#include <tenure/ops/indexing.hpp>
#include <tenure/ops/reduction.hpp>

namespace tenure::ops {

/// 0, 1, 2, ... along an axis, in the shape and element type of x; constant to every derivative.
template <int A>
struct index_along {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr int at = axis_position<index_along, X::shape_type::rank, A>::value;
    return X{x.graph, counting(*x.graph, dtype_v<typename X::element_type>, value(x).node().shape, at).id};
  }
};

/// Zeros above the Kth diagonal of the last two axes (Upper: below it).
template <bool Upper, int K>
struct triangle {
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(X::shape_type::rank >= 2, "tenure: tril, triu: need at least two axes");
    const value rows = index_along<-2>::trace(x), columns = index_along<-1>::trace(x);
    const value above = columns - rows, bound = above.like(K);
    const value kept = Upper ? pointwise_value<greater_equal>(above, bound) : pointwise_value<less_equal>(above, bound);
    return X{x.graph, pointwise_value<where>(kept, x, value(x).like(0)).id};
  }
};

namespace detail {
/// The position of the first extremum (or NaN) along an axis, which is kept with an extent of 1.
template <ir::reduction Kind, int A, class X>
constexpr auto first_extremum(const X& x) {
  const auto position = index_along<A>::trace(x);
  const auto wins = logical_or::trace(equal::trace(x, reduce<Kind, true, A>::trace(x)), not_equal::trace(x, x));
  const X never{x.graph, value(x).like(9007199254740992.0).id};
  return amin<true, A>::trace(where::trace(wins, position, never));
}
}  // namespace detail

/// The position of the largest (smallest) element along an axis, the first one of equals.
template <ir::reduction Kind, int A>
struct arg_extremum {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr int at = axis_position<arg_extremum, X::shape_type::rank, A>::value;
    return cast<std::int64_t>::trace(select<at, 0>::trace(detail::first_extremum<Kind, at>(x)));
  }
};

/// The largest (smallest) element along one axis. Unlike amax, the first one of equals takes all of the gradient.
template <ir::reduction Kind, int A>
struct extremum {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr int at = axis_position<extremum, X::shape_type::rank, A>::value;
    const auto chosen = equal::trace(index_along<at>::trace(x), detail::first_extremum<Kind, at>(x));
    const X zero{x.graph, value(x).like(0).id};
    return sum<false, at>::trace(where::trace(chosen, x, zero));
  }
};

/// result[..., j, ...] = x[..., indices[..., j, ...], ...] (NumPy's take_along_axis, PyTorch's gather). The cost is the
/// product of both extents along the axis.
template <int A>
struct take_along {
  template <class X, class I>
  static constexpr auto trace(const X& x, const I& indices) {
    require_integer_indices<I>();
    using S = typename X::shape_type;
    constexpr int at = axis_position<take_along, S::rank, A>::value;
    static_assert(S::rank == I::shape_type::rank, "tenure: take_along: indices and operand have different ranks");
    x.graph->check_bound({indices.id, x.shape()[at], "take_along"});
    const auto source = stack<at>::unsqueeze(x);
    const auto wanted = cast<typename X::element_type>::trace(stack<at + 1>::unsqueeze(indices));
    const auto chosen = equal::trace(index_along<at + 1>::trace(source), wanted);
    const value zero = value(source).like(0);
    return sum<false, at + 1>::trace(where::trace(chosen, source, std::remove_const_t<decltype(source)>{x.graph, zero.id}));
  }
};

}  // namespace tenure::ops

namespace tenure {

template <int A, operand X> constexpr auto index_along(const X& x) { return apply<ops::index_along<A>>(x); }
template <int K = 0, operand X> constexpr auto tril(const X& x) { return apply<ops::triangle<false, K>>(x); }
template <int K = 0, operand X> constexpr auto triu(const X& x) { return apply<ops::triangle<true, K>>(x); }
template <operand X, int A> constexpr auto argmax(const X& x, axis_list<A>) { return apply<ops::arg_extremum<ir::reduction::max, A>>(x); }
template <operand X, int A> constexpr auto argmin(const X& x, axis_list<A>) { return apply<ops::arg_extremum<ir::reduction::min, A>>(x); }
template <operand X, int A> constexpr auto max(const X& x, axis_list<A>) { return apply<ops::extremum<ir::reduction::max, A>>(x); }
template <operand X, int A> constexpr auto min(const X& x, axis_list<A>) { return apply<ops::extremum<ir::reduction::min, A>>(x); }
template <int A, operand X, operand I> constexpr auto take_along(const X& x, const I& indices) { return apply<ops::take_along<A>>(x, indices); }

}  // namespace tenure
