// SPDX-License-Identifier: BSL-1.0
// Products along axes of static extent, and running totals along one such axis of extent n: prod, cumsum, cumprod.
// Cost: log2(n) steps for each axis. A step of cumsum or cumprod reads all elements; the steps of prod halve the elements. No step divides,
// so gradients are right where elements are 0.
#pragma once

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {
namespace detail {
template <class S, int At>
struct accumulated_axis {
  static constexpr int at = At;
  static constexpr std::int64_t extent = S::value[at];
  static_assert(is_static(extent), "tenure: prod, cumsum, cumprod: the axis needs a static extent");
};

/// The element type of the result: int64 for integers and bool, as for sums.
template <class X>
using total_of = std::conditional_t<is_floating(dtype_v<typename X::element_type>), typename X::element_type, std::int64_t>;
template <class X>
constexpr value widened(const X& x) { return cast_to(x, dtype_v<total_of<X>>); }

/// y[i] = x[i] combined with x[i - 1], ..., x[0]. After step k an element combines the 2 * k operands that end at its own position.
constexpr value running(value x, std::int64_t extent, auto shifted, auto combine) {
  for (std::int64_t k = 1; k < extent; k *= 2) x = combine(x, shifted(x, k));
  return x;
}
}  // namespace detail

namespace detail {
/// The product along one axis, which is kept with extent 1. The product of no elements is 1.
constexpr value product_along(value x, int axis) {
  const std::int64_t extent = x.shape()[axis];
  if (extent == 0) {
    const extents one = with_ones(x.shape(), std::int64_t{1} << axis);
    ir::builder& g = *x.graph;
    return {g, is_floating(x.type()) ? g.constant(x.type(), g.intern(one), 1) : g.constant_bits(x.type(), g.intern(one), 1)};
  }
  value halves = x, odd;
  for (std::int64_t n = extent; n > 1; n /= 2) {
    if (n % 2 == 1) {
      const value last = sliced(halves, axis, n - 1, 1, 1);
      odd = odd.id == ir::none ? last : odd * last;
    }
    const value front = sliced(halves, axis, 0, n / 2, 1);
    halves = front * sliced(halves, axis, n / 2, n / 2, 1);
  }
  return odd.id != ir::none ? halves * odd : halves;
}
}  // namespace detail

template <bool Keep, int... A>
struct prod : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: prod: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: prod: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr std::int64_t mask = axis_mask<prod, S::rank, A...>::value;
    constexpr bool are_static = [] {
      for (int a = 0; a < S::rank; ++a)
        if ((mask >> a & 1) && !is_static(S::value[a])) return false;
      return true;
    }();
    static_assert(are_static, "tenure: prod, cumsum, cumprod: the axis needs a static extent");
    value product = detail::widened(x);
    for (int a = 0; a < S::rank && are_static; ++a)
      if (mask >> a & 1) product = detail::product_along(product, a);
    if (!Keep) product = reshape_to(product, without_axes(product.shape(), mask));
    return traced<detail::total_of<X>, shape_from<reduced_shape<S, mask, Keep>>>{x.graph, product.id};
  }
};

template <int A>
struct cumsum : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: cumsum: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using axis = detail::accumulated_axis<typename X::shape_type, axis_position<cumsum, X::shape_type::rank, A>::value>;
    const auto shifted = [](value y, std::int64_t k) { return padded(sliced(y, axis::at, 0, axis::extent - k, 1), axis::at, k, axis::extent, 1); };
    return traced<detail::total_of<X>, typename X::shape_type>{
        x.graph, detail::running(detail::widened(x), axis::extent, shifted, [](value a, value b) { return a + b; }).id};
  }
};

template <int A>
struct cumprod : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: cumprod: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using axis = detail::accumulated_axis<typename X::shape_type, axis_position<cumprod, X::shape_type::rank, A>::value>;
    const auto shifted = [](value y, std::int64_t k) {
      const value ones = sliced(y, axis::at, 0, k, 1).like(1);
      return concatenated(ones, sliced(y, axis::at, 0, axis::extent - k, 1), axis::at);
    };
    return traced<detail::total_of<X>, typename X::shape_type>{
        x.graph, detail::running(detail::widened(x), axis::extent, shifted, [](value a, value b) { return a * b; }).id};
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The product of all elements, or along axis<A> or axes<A, B>. The axes are dropped; keepdim keeps them with extent 1. The product of no elements is
/// 1. The extents of the axes must be static. Integers and bool give int64. Gradients are right where elements are 0.
template <operand_or_scalar X, class... Along> constexpr auto prod(const X& x, const Along&...) { return apply<typename ops::along<ops::prod, Along...>::type>(x); }
/// The running sums and the running products along axis<A>, whose extent must be static. Types and gradients: as prod.
template <operand_or_scalar X, class Along> constexpr auto cumsum(const X& x, const Along&) { return apply<ops::cumsum<ops::single_axis<Along>::value>>(x); }
template <operand_or_scalar X, class Along> constexpr auto cumprod(const X& x, const Along&) { return apply<ops::cumprod<ops::single_axis<Along>::value>>(x); }

// Without an axis. They do not compile and give a message.
template <operand_or_scalar X>
constexpr auto cumsum(const X&) {
  static_assert(detail::never<X>, "tenure: cumsum: it takes the axis: cumsum(x, tn::axis<0>)");
  return after_error();
}
template <operand_or_scalar X>
constexpr auto cumprod(const X&) {
  static_assert(detail::never<X>, "tenure: cumprod: it takes the axis: cumprod(x, tn::axis<0>)");
  return after_error();
}

}  // namespace tenure
