// SPDX-License-Identifier: BSL-1.0
// Robust losses of least squares: a block of residuals with the squared length s counts as rho(s) in place of s, so that outliers pull less. `weight` is
// the derivative of rho. Near 0 each is s.
// Source: the names and the meaning of Ceres' HuberLoss, CauchyLoss and TukeyLoss; `scale` is their a.
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/exponential.hpp>
#include <tenure/ops/comparison.hpp>

namespace TENURE_NAMESPACE::robust {

/// Plain least squares.
struct none {
  static constexpr double scale = 1;
  template <class S, class C> static constexpr S value(const S& s, const C&) { return s; }
};
/// s up to scale^2, then linear in the length.
struct huber {
  double scale = 1;
  template <class S, class C>
  static constexpr auto value(const S& s, const C& c) {
    const auto far = s > c * c;
    return where(far, 2.0 * c * sqrt(where(far, s, ones_like(s))) - c * c, s);
  }
  template <class S, class C>
  static constexpr auto weight(const S& s, const C& c) {
    const auto far = s > c * c;
    return where(far, c / sqrt(where(far, s, ones_like(s))), ones_like(s));
  }
};
/// It grows like the logarithm.
struct cauchy {
  double scale = 1;
  template <class S, class C>
  static constexpr auto value(const S& s, const C& c) { return c * c * log1p(s / (c * c)); }
  template <class S, class C>
  static constexpr auto weight(const S& s, const C& c) { return 1.0 / (1.0 + s / (c * c)); }
};
/// A block longer than scale has no influence.
struct tukey {
  double scale = 1;
  template <class S, class C>
  static constexpr auto value(const S& s, const C& c) {
    const auto left = maximum(1.0 - s / (c * c), zeros_like(s));
    return c * c / 3.0 * (1.0 - left * left * left);
  }
  template <class S, class C>
  static constexpr auto weight(const S& s, const C& c) {
    const auto left = maximum(1.0 - s / (c * c), zeros_like(s));
    return left * left;
  }
};

}  // namespace tenure::robust
