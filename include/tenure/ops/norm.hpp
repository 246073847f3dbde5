// SPDX-License-Identifier: BSL-1.0
// Norms over all or some axes, and the standard deviation. Where a norm is 0 its gradient is 0 (PyTorch's subgradient).
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/reduction.hpp>

namespace tenure::ops {

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

}  // namespace tenure::ops

namespace tenure {

template <int P = 2, operand X> constexpr auto norm(const X& x) { return apply<ops::norm<P, false>>(x); }
template <int P = 2, operand X, int... A> constexpr auto norm(const X& x, axis_list<A...>) { return apply<ops::norm<P, false, A...>>(x); }
template <int P = 2, operand X, int... A> constexpr auto norm(const X& x, axis_list<A...>, keepdim_t) { return apply<ops::norm<P, true, A...>>(x); }
template <int Correction = 1, operand X> constexpr auto stddev(const X& x) { return apply<ops::stddev<Correction, false>>(x); }
template <int Correction = 1, operand X, int... A> constexpr auto stddev(const X& x, axis_list<A...>) { return apply<ops::stddev<Correction, false, A...>>(x); }
template <int Correction = 1, operand X, int... A> constexpr auto stddev(const X& x, axis_list<A...>, keepdim_t) { return apply<ops::stddev<Correction, true, A...>>(x); }

}  // namespace tenure
