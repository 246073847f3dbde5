// SPDX-License-Identifier: BSL-1.0
// Reductions over all or some axes: sum, mean, amax, amin, logsumexp, var. Normalisations along one axis: softmax, log_softmax.
#pragma once

#include <limits>

#include <tenure/ops/axes.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::ops {

template <class S, std::int64_t Mask, bool Keep>
struct reduced_shape {
  static constexpr extents value = Keep ? with_ones(S::value, Mask) : without_axes(S::value, Mask);
};

template <ir::reduction Kind, bool Keep, int... A>
struct reduce {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Kind != ir::reduction::sum, "tenure: sum: an axis lies outside the tensor's rank");
    static_assert(is_inside || Kind != ir::reduction::max, "tenure: any: an axis lies outside the tensor's rank");
    static_assert(is_inside || Kind != ir::reduction::min, "tenure: all: an axis lies outside the tensor's rank");
  }
  template <bool Holds, int...>
  static constexpr void has_each_once() {
    static_assert(Holds || Kind != ir::reduction::sum, "tenure: sum: an axis is named twice");
    static_assert(Holds || Kind != ir::reduction::max, "tenure: any: an axis is named twice");
    static_assert(Holds || Kind != ir::reduction::min, "tenure: all: an axis is named twice");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    using S = typename X::shape_type;
    constexpr std::int64_t mask = axis_mask<reduce, S::rank, A...>::value;
    using result_shape = shape_from<reduced_shape<S, mask, Keep>>;
    constexpr dtype from = dtype_v<typename X::element_type>;
    constexpr bool of_bool = Kind != ir::reduction::sum && from == dtype::boolean;  // amax is any, amin is all: computed as int32
    // The sum of integers or bool is int64, as in PyTorch.
    constexpr dtype type = Kind == ir::reduction::sum && !is_floating(from) ? dtype::int64 : of_bool ? dtype::int32 : from;
    const value operand = cast_to(x, type);
    const extents kept = with_ones(operand.shape(), mask);
    value r = reduced(operand, mask, Kind);
    if (Keep) r = reshape_to(r, kept);
    if (of_bool) r = pointwise_value<greater>(r, r.like(0));
    return traced<element_of_t<of_bool ? dtype::boolean : type>, result_shape>{x.graph, r.id};
  }
};

template <bool Keep, int... A>
using sum = reduce<ir::reduction::sum, Keep, A...>;

namespace detail {
/// The largest element of no elements does not exist, so the reduced axes must not be empty.
constexpr void require_elements(const auto& x, std::int64_t mask, const char* call) {
  for (int a = 0; a < x.shape().rank; ++a)
    if (mask >> a & 1) x.graph->require_at_least(value(x).shape()[a], 1, call, value(x).node().shape);
}
template <class Shape, std::int64_t Axes>
constexpr void require_axes_with_elements() {
  constexpr bool empty = [] {
    for (int a = 0; a < Shape::rank; ++a)
      if ((Axes >> a & 1) && Shape::value[a] == 0) return true;
    return false;
  }();
  static_assert(!empty, "tenure: amax, amin, argmax, argmin, max, min: the axis is empty: an extent of Shape is 0; write a first element in front, as in amax(concat<0>(first, x))");
}
}  // namespace detail

/// The largest (smallest) element along axes.
template <ir::reduction Kind, bool Keep, int... A>
struct extreme_value {
  template <int Axis, int Rank>
  static constexpr void has_axis() {
    constexpr bool is_inside = -Rank <= Axis && Axis < Rank;
    static_assert(is_inside || Kind != ir::reduction::max, "tenure: amax: an axis lies outside the tensor's rank");
    static_assert(is_inside || Kind != ir::reduction::min, "tenure: amin: an axis lies outside the tensor's rank");
  }
  template <bool Holds, int...>
  static constexpr void has_each_once() {
    static_assert(Holds || Kind != ir::reduction::max, "tenure: amax: an axis is named twice");
    static_assert(Holds || Kind != ir::reduction::min, "tenure: amin: an axis is named twice");
  }
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr std::int64_t mask = axis_mask<extreme_value, X::shape_type::rank, A...>::value;
    detail::require_axes_with_elements<typename X::shape_type, mask>();
    detail::require_elements(x, mask, Kind == ir::reduction::max ? "amax" : "amin");
    if constexpr (!axis_mask<extreme_value, X::shape_type::rank, A...>::is_valid) return x;
    else return reduce<Kind, Keep, A...>::trace(x);
  }
};
template <bool Keep, int... A>
using amax = extreme_value<ir::reduction::max, Keep, A...>;
template <bool Keep, int... A>
using amin = extreme_value<ir::reduction::min, Keep, A...>;

/// The largest (smallest) of bools. Without elements it is false (true), the value from which a reduction starts.
template <bool Keep, int... A>
using any = reduce<ir::reduction::max, Keep, A...>;
template <bool Keep, int... A>
using all = reduce<ir::reduction::min, Keep, A...>;

/// The number of elements that one element of the result combines, as a scalar value.
template <class X>
constexpr value reduced_count(const X& x, std::int64_t mask) {
  return number_of_extent(*x.graph, dtype_v<typename X::element_type>, elements_along(*x.graph, x.shape(), mask));
}

template <bool Keep, int... A>
struct mean : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: mean: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: mean: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(is_floating(dtype_v<typename X::element_type>), "tenure: mean: integers and bool have no mean; convert to a floating type first");
    using mask = axis_mask<mean, X::shape_type::rank, A...>;
    if constexpr (!mask::is_valid) {
      return x;
    } else {
      const auto total = sum<Keep, A...>::trace(x);
      const value n = reduced_count(x, mask::value);
      const std::int16_t to = x.graph->intern(extents(total.shape()));
      return std::remove_const_t<decltype(total)>{x.graph, (value(total) / broadcast_to(n, to)).id};
    }
  }
};

namespace detail {
/// a - b, and 0 where they are so close that only rounding errors differ.
constexpr value difference_or_zero(const value& a, const value& b) {
  const double rounding = 1024 * (a.type() == dtype::float64 ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon()));
  const value difference = a - b, is_none = pointwise_value<less_equal>(difference, b * rounding);
  return pointwise_value<where>(is_none, difference.like(0), difference);
}

/// The deviations of the elements from their mean, and the sum of their squares. It is the sum of x^2 without n * mean^2, which has lost two bits or fewer
/// where the sum of x^2 is 4 times as large or less, and far above the smallest numbers. Elsewhere, and so where all elements are equal, a second pass
/// adds the deviations from the rounded mean, a constant to derivatives, and their squares. This finds the rest of the mean, which the rounding cut off.
/// The loops of a CPU skip a second pass that adds only zeros. The derivatives are those of the second pass.
template <class X, class R>
struct deviations {
  X from_near;  // x - the rounded mean
  R rest;       // the mean of these
  R squares;    // the sum of (x - mean)^2
};
template <bool Keep, int... A, class X>
constexpr auto deviations_along(const X& x, const value& count) {
  constexpr int rank = X::shape_type::rank;
  constexpr std::int64_t mask = axis_mask<mean<Keep, A...>, rank, A...>::value;
  constexpr bool sums_columns = rank > 0 && 2 * mask <= all_axes(rank);  // the last axis is kept
  const auto total = sum<Keep, A...>::trace(x), plain = sum<Keep, A...>::trace(mul::trace(x, x));
  using R = std::remove_const_t<decltype(total)>;
  using kept = shape_from<reduced_shape<typename X::shape_type, mask, true>>;
  const extents ones = with_ones(value(x).shape(), mask);
  const value n = broadcast_to(count, value(total).node().shape), mean = value(total) / n;
  const value difference = value(plain) - value(total) * mean;
  const double small = value(plain).type() == dtype::float64 ? 0x1p-960 : 0x1p-100;
  const value is_known = pointwise_value<less_equal>(value(plain) + small, difference * 4.0);
  const value known = pointwise_value<where>(is_known, difference, difference.like(-1));  // -1: lost
  const value where_lost = pointwise_value<less>(known, known.like(0));

  const auto from_near = sub::trace(x, traced<typename X::element_type, kept>{x.graph, stopped(reshape_to(mean, ones)).id});
  const auto second_sum = [&](const auto& of) {
    if constexpr (sums_columns) {  // are skipped all at once
      const value least = reduced(known, all_axes(known.shape().rank), ir::reduction::min);
      return value(sum<Keep, A...>::trace(where::trace(traced<bool, shape<>>{x.graph, pointwise_value<less>(least, least.like(0)).id}, of, number(of, 0))));
    } else {
      return value(sum<Keep, A...>::trace(where::trace(traced<bool, kept>{x.graph, reshape_to(where_lost, ones).id}, of, number(of, 0))));
    }
  };
  const value near_total = second_sum(from_near), near_rest = near_total / n;
  const value rest = pointwise_value<where>(where_lost, near_rest, near_rest.like(0));
  const value second = difference_or_zero(second_sum(mul::trace(from_near, from_near)), near_total * near_rest);
  const value squares = pointwise_value<where>(where_lost, second, known);

  const value own_rest = instead_of(value(sum<Keep, A...>::trace(from_near)) / n, rest);
  const value own_squares = value(sum<Keep, A...>::trace(mul::trace(from_near, from_near))) - own_rest * own_rest * n;
  return deviations<X, R>{X{x.graph, from_near.id}, R{x.graph, own_rest.id}, R{x.graph, instead_of(own_squares, squares).id}};
}
}  // namespace detail

/// The sum of squared deviations from the mean, divided by n - Correction. Correction = 1 is PyTorch's unbiased variance.
template <int Correction, bool Keep, int... A>
struct var : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: var: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: var: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    using mask = axis_mask<var, X::shape_type::rank, A...>;
    if constexpr (!mask::is_valid) {
      return x;
    } else {
      const value count = reduced_count(x, mask::value);
      const auto total = detail::deviations_along<Keep, A...>(x, count).squares;
      const std::int16_t to = x.graph->intern(extents(total.shape()));
      // The count is stretched before the subtraction, so that the subtraction and the division stay in the kernel that walks the rows.
      const bool is_enough = count.node().op == ir::opcode::constant && ir::value_of(count.node()) >= Correction;
      const value left = broadcast_to(count, to) - static_cast<double>(Correction);
      const value n = is_enough ? left : pointwise_value<maximum>(left, left.like(0));
      return std::remove_const_t<decltype(total)>{x.graph, (value(total) / n).id};
    }
  }
};

namespace detail {
/// x, or x as float32 if it is integer or bool: a difference of integers would wrap around before exp converts it.
template <class X>
constexpr auto floating_of(const X& x) {
  if constexpr (is_floating(dtype_v<typename X::element_type>)) return x;
  else return traced<float, typename X::shape_type>{x.graph, cast_to(x, dtype::float32).id};
}
/// The largest element along axes, without gradient, to be subtracted before exp. It may ignore a NaN. This is right, because exp of
/// this NaN is NaN, so the sum of the exponentials is NaN.
template <int... A, class X>
constexpr auto largest_shift(const X& x) {
  const auto m = reduce<ir::reduction::max_of_numbers, true, A...>::trace(x);
  return std::remove_const_t<decltype(m)>{x.graph, stopped(m).id};
}
/// largest_shift(), limited to finite numbers, so that inf - inf, which is NaN, does not occur. If a row has an inf, the shift is the largest finite
/// number: exp of the finite elements is then 0 and cannot overflow, and their gradient is 0.
template <int... A, class X>
constexpr auto stable_shift(const X& x) {
  const auto m = largest_shift<A...>(x);
  const value largest = m;
  const double most = static_cast<double>(std::numeric_limits<typename X::element_type>::max());
  const value below = pointwise_value<minimum>(largest, largest.like(most));
  return std::remove_const_t<decltype(m)>{x.graph, pointwise_value<maximum>(below, largest.like(-most)).id};
}
}  // namespace detail

template <bool Keep, int... A>
struct logsumexp : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: logsumexp: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: logsumexp: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& given) {
    const auto x = detail::floating_of(given);
    using mask = axis_mask<logsumexp, X::shape_type::rank, A...>;
    if constexpr (!mask::is_valid) {
      return x;
    } else {
      const auto shift = detail::stable_shift<A...>(x);
      // This node is made before the sum. Fusion goes from the last node to the first, and the sum tells it which axes form a row.
      const value back = Keep ? value(shift) : reshape_to(shift, without_axes(x.shape(), mask::value));
      const auto logarithm = log::trace(sum<Keep, A...>::trace(exp::trace(sub::trace(x, shift))));
      return std::remove_const_t<decltype(logarithm)>{x.graph, (value(logarithm) + back).id};
    }
  }
};

/// If the largest element of a row is infinite, the whole row is NaN, as in PyTorch. The same holds for log_softmax.
template <int A>
struct softmax : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: softmax: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& given) {
    const auto x = detail::floating_of(given);
    constexpr int at = axis_position<softmax, X::shape_type::rank, A>::value;
    const auto e = exp::trace(sub::trace(x, detail::largest_shift<at>(x)));
    // One division for each row, not for each element. Also, its derivative needs no additional pass over the row.
    const auto total = sum<true, at>::trace(e);
    return mul::trace(e, div::trace(detail::number(total, 1), total));
  }
};

template <int A>
struct log_softmax : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: log_softmax: the axis lies outside the tensor's rank"); }
  template <class X>
  static constexpr auto trace(const X& given) {
    const auto x = detail::floating_of(given);
    constexpr int at = axis_position<log_softmax, X::shape_type::rank, A>::value;
    const auto z = sub::trace(x, detail::largest_shift<at>(x));
    return sub::trace(z, log::trace(sum<true, at>::trace(exp::trace(z))));
  }
};

template <int Correction>
struct corrected {
  template <bool Keep, int... A>
  using var = ops::var<Correction, Keep, A...>;
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Reductions over all axes, or over axis<A> or axes<A, B>. keepdim after the axes keeps them with extent 1. NaN in an element gives NaN. sum of
/// integers and bool is int64, and the sum of no elements is 0. mean and var need floating elements. amax and amin keep the element type. At a tie
/// the elements share the gradient equally. An empty axis does not compile, or throws at the call if its extent is a run-time one. logsumexp does not
/// overflow, and is float32 for integers and bool. var divides by n - Correction, or by 0 if there are fewer elements: then it is NaN or infinite, as
/// in PyTorch.
template <operand_or_scalar X, class... Along> constexpr auto sum(const X& x, const Along&...) { return apply<typename ops::along<ops::sum, Along...>::type>(x); }
template <operand_or_scalar X, class... Along> constexpr auto mean(const X& x, const Along&...) { return apply<typename ops::along<ops::mean, Along...>::type>(x); }
template <operand_or_scalar X, class... Along> constexpr auto amax(const X& x, const Along&...) { return apply<typename ops::along<ops::amax, Along...>::type>(x); }
template <operand_or_scalar X, class... Along> constexpr auto amin(const X& x, const Along&...) { return apply<typename ops::along<ops::amin, Along...>::type>(x); }
template <operand_or_scalar X, class... Along> constexpr auto logsumexp(const X& x, const Along&...) { return apply<typename ops::along<ops::logsumexp, Along...>::type>(x); }
template <int Correction = 1, operand_or_scalar X, class... Along> constexpr auto var(const X& x, const Along&...) { return apply<typename ops::along<ops::corrected<Correction>::template var, Along...>::type>(x); }
/// any: whether any element is true, or not zero (NaN is not zero), along axes as in amax. all(x, along...): whether all elements are. For no
/// elements any is false and all is true.
template <operand X, class... Along> constexpr auto any(const X& x, const Along&...) { return apply<typename ops::along<ops::any, Along...>::type>(cast<bool>(x)); }
/// exp(x) / sum(exp(x)) along one axis (by default the last one), and its logarithm, computed without overflow. If the largest element of a row is
/// infinite, or an element is NaN, the row is NaN. Integers and bool give float32.
template <operand_or_scalar X, class Along = axis_list<-1>> constexpr auto softmax(const X& x, const Along& = {}) { return apply<ops::softmax<ops::single_axis<Along>::value>>(x); }
template <operand_or_scalar X, class Along = axis_list<-1>> constexpr auto log_softmax(const X& x, const Along& = {}) { return apply<ops::log_softmax<ops::single_axis<Along>::value>>(x); }

}  // namespace tenure
