// SPDX-License-Identifier: BSL-1.0
// Norms over all or some axes, and the standard deviation. Where a norm is 0 its gradient is 0 (PyTorch's subgradient).
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// (sum of |x|^P)^(1/P).
template <int P, bool Keep, int... A>
struct norm {
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(P >= 1, "tenure: norm: the power must be at least 1");
    if constexpr (P <= 1) {
      return sum<Keep, A...>::trace(abs::trace(x));
    } else {
      const auto constant = [&](double c) { return detail::number(x, c); };
      const auto size = [&] {
        if constexpr (P == 2) return x;
        else return abs::trace(x);
      }();
      const auto total = sum<Keep, A...>::trace(pow::trace(size, constant(P)));
      // The inner where keeps the infinite slope of the root at 0 out of the gradient.
      const auto is_zero = equal::trace(total, constant(0));
      const auto positive = where::trace(is_zero, constant(1), total);
      const auto root = [&] {
        if constexpr (P == 2) return sqrt::trace(positive);
        else return pow::trace(positive, constant(1.0 / P));
      }();
      return where::trace(is_zero, constant(0), root);
    }
  }
};

/// The square root of var.
template <int Correction, bool Keep, int... A>
struct stddev {
  template <class X>
  static constexpr auto trace(const X& x) { return sqrt::trace(var<Correction, Keep, A...>::trace(x)); }
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

template <int P = 2, operand X, class... Along> constexpr auto norm(const X& x, const Along&...) { return apply<typename ops::along<ops::of_order<P>::template norm, Along...>::type>(x); }
template <int Correction = 1, operand X, class... Along> constexpr auto stddev(const X& x, const Along&...) { return apply<typename ops::along<ops::deviation<Correction>::template stddev, Along...>::type>(x); }

}  // namespace tenure
