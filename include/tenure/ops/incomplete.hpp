// SPDX-License-Identifier: BSL-1.0
// The incomplete gamma functions with all their partial derivatives. Those by x are densities, whose derivatives have any order. Those by a have a function of their own,
// whose derivative by a is not there.
#pragma once

#include <tenure/math/constant_incomplete.hpp>
#include <tenure/math/incomplete_gamma.hpp>
#include <tenure/ops/special.hpp>

namespace TENURE_NAMESPACE::ops {

/// x^(a - 1) e^-x / gamma(a).
struct gamma_density : pointwise<gamma_density, 2, typing::floating> {
  static constexpr const char* name = "gamma_density";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: gammainc: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P x) { return math::gamma_density(a, x); }
  template <class T> static T reference(T a, T x) { return static_cast<T>(math::constant::gamma_density(static_cast<long double>(a), static_cast<long double>(x))); }
  /// The derivative of log density by a. Where x is 0 and a is above 1, the density has its zero from x^(a - 1).
  template <class V>
  static constexpr V log_slope(V a, V x) {
    const V vanishes = pointwise_value<logical_and>(pointwise_value<equal>(x, x.like(0)), pointwise_value<greater>(a, a.like(1)));
    return pointwise_value<log>(pointwise_value<where>(vanishes, x.like(1), x)) - pointwise_value<digamma>(a);
  }
  template <class V> static constexpr V derivative(int i, V g, V a, V x, V y) { return i == 0 ? g * (y * log_slope(a, x)) : g * (y * ((a - 1) / x - 1)); }
};

/// The derivative of gammainc(a, x) by a.
struct gammainc_slope : pointwise<gammainc_slope, 2, typing::floating> {
  static constexpr const char* name = "gammainc_slope";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: gammainc: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P x) { return math::gammainc_slope(a, x); }
  template <class T> static T reference(T a, T x) { return static_cast<T>(math::constant::gammainc_slope(static_cast<long double>(a), static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int i, V g, V a, V x, V) {
    if (i == 0) {
      g.graph->refuse({ir::diagnostic::kind::incomplete});
      return g;
    }
    return g * (pointwise_value<gamma_density>(a, x) * gamma_density::log_slope(a, x));
  }
};

/// The regularized lower incomplete gamma function P(a, x).
struct gammainc : pointwise<gammainc, 2, typing::floating> {
  static constexpr const char* name = "gammainc";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: gammainc: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P x) { return math::gammainc(a, x); }
  template <class T> static T reference(T a, T x) { return static_cast<T>(math::constant::gammainc(static_cast<long double>(a), static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int i, V g, V a, V x, V) { return g * (i == 0 ? pointwise_value<gammainc_slope>(a, x) : pointwise_value<gamma_density>(a, x)); }
};

/// The upper one, 1 - P(a, x), with the digits of its tail.
struct gammaincc : pointwise<gammaincc, 2, typing::floating> {
  static constexpr const char* name = "gammaincc";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: gammaincc: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P x) { return math::gammaincc(a, x); }
  template <class T> static T reference(T a, T x) { return static_cast<T>(math::constant::gammaincc(static_cast<long double>(a), static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int i, V g, V a, V x, V) { return -(g * (i == 0 ? pointwise_value<gammainc_slope>(a, x) : pointwise_value<gamma_density>(a, x))); }
};

using incomplete_operations = operation_list<gammainc, gammaincc, gammainc_slope, gamma_density>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The regularized incomplete gamma functions of a >= 0 and x >= 0: the part of the gamma distribution with shape a below x, and the part above, each with the digits of
/// its tail, to 8 ulp. All partial derivatives are there; the second one by a is refused. NaN for negative a or x and for (0, 0). Shapes broadcast; integers and bool
/// are converted to float32 first.
template <class A, class X> requires some_operand<A, X> constexpr auto gammainc(const A& a, const X& x) { return apply<ops::gammainc>(a, x); }
template <class A, class X> requires some_operand<A, X> constexpr auto gammaincc(const A& a, const X& x) { return apply<ops::gammaincc>(a, x); }

}  // namespace tenure
