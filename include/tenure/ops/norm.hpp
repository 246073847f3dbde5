// SPDX-License-Identifier: BSL-1.0
// Norms and the standard deviation over all or some axes. Where a norm is 0, its gradient is 0, as in PyTorch.
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
/// root(x), and 0 with gradient 0 where x is 0. The inner where keeps the infinite slope of the root out of the gradient.
template <class X, class Root>
constexpr auto root_or_zero(const X& x, Root root) {
  const auto zero = number(x, 0), one = number(x, 1);
  const auto is_zero = equal::trace(x, zero);
  return where::trace(is_zero, zero, root(where::trace(is_zero, one, x)));
}
}  // namespace detail

/// (sum of |x|^P)^(1/P).
template <int P, bool Keep, int... A>
struct norm {
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
    } else {
      const auto constant = [&](double c) { return detail::number(x, c); };
      const auto size = [&] {
        if constexpr (P == 2) return x;
        else return abs::trace(x);
      }();
      const auto total = sum<Keep, A...>::trace(pow::trace(size, constant(P)));
      return detail::root_or_zero(total, [&](const auto& positive) {
        if constexpr (P == 2) return sqrt::trace(positive);
        else return pow::trace(positive, constant(1.0 / P));
      });
    }
  }
};

/// The square root of var. Where it is 0, its gradient is 0. For one element and a Correction of 1 both are NaN.
template <int Correction, bool Keep, int... A>
struct stddev {
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

/// (sum of |x|^P)^(1/P), with P >= 1, over all axes, or over axis<A> or axes<A, B>, which are dropped, or kept with extent 1 by keepdim.
/// Where the norm is 0 its gradient is 0.
template <int P = 2, operand_or_scalar X, class... Along> constexpr auto norm(const X& x, const Along&...) { return apply<typename ops::along<ops::of_order<P>::template norm, Along...>::type>(x); }
/// The root of var(x). Where all elements are equal, the gradient is 0. For one element and a correction of 1, value and gradient are NaN.
template <int Correction = 1, operand_or_scalar X, class... Along> constexpr auto stddev(const X& x, const Along&...) { return apply<typename ops::along<ops::deviation<Correction>::template stddev, Along...>::type>(x); }

}  // namespace tenure
