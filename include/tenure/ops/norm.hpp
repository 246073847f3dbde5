// SPDX-License-Identifier: BSL-1.0
// Norms and the standard deviation over all or some axes. Where a norm is 0, its gradient is 0, as in PyTorch.
#pragma once

#include <limits>
#include <type_traits>

#include <tenure/ops/activation.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE {

/// The power of norm<tn::inf>(x) and matrix_norm<tn::inf>(x), which take a maximum. It is a template argument, and no number.
struct infinite_power {
  constexpr operator int() const { return std::numeric_limits<int>::max(); }
};
inline constexpr infinite_power inf{};
/// matrix_norm<tn::nuclear>(x) is the sum of the singular values.
struct nuclear_power {
  constexpr operator int() const { return std::numeric_limits<int>::max() - 1; }
};
inline constexpr nuclear_power nuclear{};

}  // namespace tenure

namespace TENURE_NAMESPACE::ops {

namespace detail {
/// root(x), and 0 with gradient 0 where x is 0. The inner where keeps the infinite slope of the root out of the gradient.
constexpr auto root_or_zero(const auto& x, auto root) {
  const auto zero = number(x, 0), one = number(x, 1);
  const auto is_zero = equal::trace(x, zero);
  return where::trace(is_zero, zero, root(where::trace(is_zero, one, x)));
}

/// Whether any element of a mask is true, as a traced scalar. It is a maximum in the type of `number`, so that one kernel computes it with the mask.
constexpr auto any_true(const auto& mask, const value& number) {
  const value most = reduced(pointwise_value<where>(mask, number.like(1), number.like(0)), all_axes(number.shape().rank), ir::reduction::max);
  return traced<bool, shape<>>{mask.graph, pointwise_value<greater>(most, most.like(0)).id};
}

/// The root of a sum of squares, also where the squares overflow or underflow. sum_of(factor) is the sum of all (x * factor)^2. sum_of(factor, mask)
/// is the same with 0 where the mask is false. The factor is a traced scalar, or has the shape of the sum, and so has the mask. The factor is 1, or a
/// power of two where the sum of all x^2 is out of range. Only there does the second sum have terms other than 0; the loops of a CPU skip a sum of
/// zeros. The derivatives are those of one sum with the factor. No gradient flows through the factor: the norm does not depend on it.
constexpr auto root_of_squares(const auto& sum_of, const auto& one) {
  const auto plain = sum_of(one);
  using sum_type = std::remove_const_t<decltype(plain)>;
  const value total = stopped(plain);
  const bool is_double = total.type() == dtype::float64;
  const auto where_large = pointwise_value<greater>(total, total.like(is_double ? 0x1p1000 : 0x1p120));
  const auto where_small = pointwise_value<less>(total, total.like(is_double ? 0x1p-900 : 0x1p-90));
  const value of_small = pointwise_value<where>(where_small, total.like(is_double ? 0x1p600 : 0x1p80), total.like(1));
  const sum_type factor{total.graph, pointwise_value<where>(where_large, total.like(is_double ? 0x1p-600 : 0x1p-80), of_small).id};
  const traced<bool, typename sum_type::shape_type> is_out{total.graph, pointwise_value<logical_or>(where_large, where_small).id};
  const value in_range = pointwise_value<where>(is_out, sum_of(factor, is_out), total);
  const sum_type squares{total.graph, instead_of(sum_of(factor), in_range).id};
  const auto root = root_or_zero(squares, [](const auto& positive) { return sqrt::trace(positive); });
  return div::trace(root, factor);
}
}  // namespace detail

/// (sum of |x|^P)^(1/P).
template <int P, bool Keep, int... A>
struct norm : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: norm: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: norm: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(P >= 1, "tenure: norm: the power must be at least 1");
    if constexpr (!axis_mask<norm, X::shape_type::rank, A...>::is_valid) {
      return x;
    } else if constexpr (P <= 1) {
      return sum<Keep, A...>::trace(abs::trace(x));
    } else if constexpr (P == static_cast<int>(inf)) {
      return amax<Keep, A...>::trace(abs::trace(x));
    } else {
      const auto constant = [&](double c) { return detail::number(x, c); };
      const auto reshaped = [&](const auto& kept) {
        if constexpr (Keep) return kept;
        else return sum<false, A...>::trace(kept);  // each sum has one element
      };
      if constexpr (P == 2) {
        constexpr int rank = X::shape_type::rank;
        constexpr bool sums_columns = rank > 0 && 2 * axis_mask<norm, rank, A...>::value <= all_axes(rank);  // keeps the last axis: skipped all at once
        const auto sum_of = [&](const auto& factor, const auto&... mask) {
          const auto squares = square::trace(mul::trace(x, factor));
          if constexpr (sizeof...(mask) == 0) return sum<true, A...>::trace(squares);
          else if constexpr (sums_columns) return sum<true, A...>::trace(where::trace(detail::any_true(mask, factor)..., squares, constant(0)));
          else return sum<true, A...>::trace(where::trace(mask..., squares, constant(0)));
        };
        return reshaped(detail::root_of_squares(sum_of, constant(1)));
      } else {
        // The elements are divided by the largest one, so that powers stay in range. The norm does not depend on this unit.
        const auto size = abs::trace(x);
        const auto largest = detail::without_gradient(amax<true, A...>::trace(size));
        const auto least = constant(dtype_v<typename X::element_type> == dtype::float64 ? 0x1p-1022 : 0x1p-126);
        const auto is_number = less::trace(largest, constant(std::numeric_limits<double>::infinity()));
        const auto unit = where::trace(is_number, maximum::trace(largest, least), constant(1));
        const auto total = sum<true, A...>::trace(pow::trace(div::trace(size, unit), constant(P)));
        return reshaped(mul::trace(detail::root_or_zero(total, [&](const auto& positive) { return pow::trace(positive, constant(1.0 / P)); }), unit));
      }
    }
  }
};

/// x divided by its norm along an axis, and 0 where the norm is 0.
template <int A>
struct normalize : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    const auto length = norm<2, true, A>::trace(x);
    if constexpr (!axis_mask<norm<2, true, A>, X::shape_type::rank, A>::is_valid) return x;
    else return div::trace(x, where::trace(equal::trace(length, detail::number(x, 0)), detail::number(x, 1), length));
  }
};

/// The square root of var. Where var is 0, the gradient is 0. For one element and a Correction of 1 both are NaN.
template <int Correction, bool Keep, int... A>
struct stddev : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: stddev: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: stddev: an axis is named twice"); }
  template <class X>
  static constexpr auto trace(const X& x) {
    if constexpr (!axis_mask<stddev, X::shape_type::rank, A...>::is_valid) return x;
    else return detail::root_or_zero(var<Correction, Keep, A...>::trace(x), [](const auto& v) { return sqrt::trace(v); });
  }
};

template <int Correction>
struct deviation {
  template <bool Keep, int... A>
  using stddev = ops::stddev<Correction, Keep, A...>;
};
template <int P>
struct of_order {
  template <bool Keep, int... A>
  using norm = ops::norm<P, Keep, A...>;
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// (sum of |x|^P)^(1/P), with P >= 1, or the largest |x| with P = tn::inf, over all axes, or over axis<A> or axes<A, B>. The axes are dropped; keepdim keeps them with extent 1. Where the
/// norm is 0, its gradient is 0. The norm is right where powers of x overflow or underflow.
template <int P = 2, operand_or_scalar X, class... Along> constexpr auto norm(const X& x, const Along&...) { return apply<typename ops::along<ops::of_order<P>::template norm, Along...>::type>(x); }
template <int P = 2, operand_or_scalar X, scalar Power, class... Along>
constexpr auto norm(const X& x, Power, const Along&...) {
  static_assert(detail::never<Power>, "tenure: norm: the power stands in angle brackets: norm<1>(x)");
  return norm(x);
}
/// Each vector divided by its norm. The vectors lie along the last axis, or along axis<A>. A zero vector stays zero. There the derivative is that of x.
template <operand X> constexpr auto normalize(const X& x) { return apply<ops::normalize<-1>>(x); }
template <operand X, int A> constexpr auto normalize(const X& x, const axis_list<A>&) { return apply<ops::normalize<A>>(x); }
/// The root of var(x). Where all elements are equal, the gradient is 0. For one element and a correction of 1, value and gradient are NaN.
template <int Correction = 1, operand_or_scalar X, class... Along> constexpr auto stddev(const X& x, const Along&...) { return apply<typename ops::along<ops::deviation<Correction>::template stddev, Along...>::type>(x); }

}  // namespace tenure
