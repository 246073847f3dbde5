// SPDX-License-Identifier: BSL-1.0
// The incomplete beta function with all its partial derivatives. Those by x are densities, whose derivatives have any order. Those by the shapes a and b have functions of
// their own, whose derivatives by a and b are not there.
#pragma once

#include <tenure/math/constant_beta.hpp>
#include <tenure/math/incomplete_beta.hpp>
#include <tenure/ops/incomplete.hpp>

namespace TENURE_NAMESPACE::ops {

/// The base of the functions of a, b and x.
template <class Op>
struct of_beta : pointwise<Op, 3, typing::floating> {
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: betainc: the extents differ and neither of them is 1"); }
};

/// x^(a - 1) (1 - x)^(b - 1) / B(a, b).
struct beta_density : of_beta<beta_density> {
  static constexpr const char* name = "beta_density";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P b, P x) { return math::beta_density(a, b, x); }
  template <class T> static T reference(T a, T b, T x) { return static_cast<T>(math::constant::beta_density(static_cast<long double>(a), static_cast<long double>(b), static_cast<long double>(x))); }
  /// The derivative of log density by a, or b. Where x is 0 and a is above 1, the density is 0 and the logarithm is taken of 1.
  template <class V>
  static constexpr V log_slope(int which, V a, V b, V x) {
    const V shape = which == 0 ? a : b, end = which == 0 ? x : 1 - x;
    const V vanishes = pointwise_value<logical_and>(pointwise_value<equal>(end, x.like(0)), pointwise_value<greater>(shape, x.like(1)));
    const V l = which == 0 ? pointwise_value<log>(pointwise_value<where>(vanishes, x.like(1), x)) : pointwise_value<log1p>(-pointwise_value<where>(vanishes, x.like(0), x));
    return l - pointwise_value<digamma>(shape) + pointwise_value<digamma>(a + b);
  }
  template <class V> static constexpr V derivative(int i, V g, V a, V b, V x, V y) { return i < 2 ? g * (y * log_slope(i, a, b, x)) : g * (y * ((a - 1) / x - (b - 1) / (1 - x))); }
};

/// The derivative of betainc(a, b, x) by a, for Which = 0, or b.
template <int Which>
struct betainc_slope : of_beta<betainc_slope<Which>> {
  static constexpr const char* name = Which == 0 ? "betainc_slope_a" : "betainc_slope_b";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P b, P x) { return math::betainc_slope<Which>(a, b, x); }
  template <class T> static T reference(T a, T b, T x) { return static_cast<T>(math::constant::betainc_slope(Which, static_cast<long double>(a), static_cast<long double>(b), static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int i, V g, V a, V b, V x, V) {
    if (i < 2) {
      g.graph->refuse({ir::diagnostic::kind::incomplete});
      return g;
    }
    return g * (pointwise_value<beta_density>(a, b, x) * beta_density::log_slope(Which, a, b, x));
  }
};

/// The regularized incomplete beta function I_x(a, b).
struct betainc : of_beta<betainc> {
  static constexpr const char* name = "betainc";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P a, P b, P x) { return math::betainc(a, b, x); }
  template <class T> static T reference(T a, T b, T x) { return static_cast<T>(math::constant::betainc(static_cast<long double>(a), static_cast<long double>(b), static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int i, V g, V a, V b, V x, V) {
    return g * (i == 0 ? pointwise_value<betainc_slope<0>>(a, b, x) : i == 1 ? pointwise_value<betainc_slope<1>>(a, b, x) : pointwise_value<beta_density>(a, b, x));
  }
};

using incomplete_beta_operations = operation_list<betainc, betainc_slope<0>, betainc_slope<1>, beta_density>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The regularized incomplete beta function of a, b >= 0 and 0 <= x <= 1: the part of the beta distribution below x, to 16 ulp; its complement is betainc(b, a, 1 - x). All
/// partial derivatives are there, also by a and b; the second ones by two of a and b are refused. Where b < 1 and x > 0.9, the error is some ulp of 1. NaN beyond the
/// domain. Shapes broadcast; integers and bool are converted to float32 first.
template <class A, class B, class X> requires some_operand<A, B, X> constexpr auto betainc(const A& a, const B& b, const X& x) { return apply<ops::betainc>(a, b, x); }

}  // namespace tenure
