// SPDX-License-Identifier: BSL-1.0
// Trigonometric functions and their inverses, sinh and cosh.
#pragma once

#include <cmath>

#include <tenure/math/hyperbolic.hpp>
#include <tenure/math/inverse_trigonometric.hpp>
#include <tenure/math/trigonometric.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

struct cos;

struct sin : floating_unary<sin> {
  static constexpr const char* name = "sin";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sin(x); }
  template <class T> static T reference(T x) { return std::sin(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<cos>(x); }
};

struct cos : floating_unary<cos> {
  static constexpr const char* name = "cos";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::cos(x); }
  template <class T> static T reference(T x) { return std::cos(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return -(g * pointwise_value<sin>(x)); }
};

struct atan : floating_unary<atan> {
  static constexpr const char* name = "atan";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::atan(x); }
  template <class T> static T reference(T x) { return std::atan(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g / (x * x + 1); }
};

/// The angle of the point (x, y). At (0, 0) it is 0 or pi by the signs of the zeros, and its gradient is NaN (PyTorch: 0).
struct atan2 : pointwise<atan2, 2, typing::floating> {
  static constexpr const char* name = "atan2";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: atan2: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P y, P x) { return math::atan2(y, x); }
  template <class T> static T reference(T y, T x) { return std::atan2(y, x); }
  template <class V> static constexpr V derivative(int i, V g, V y, V x, V) {
    const V r2 = x * x + y * y;
    return i == 0 ? g * x / r2 : -(g * y / r2);
  }
};

struct cosh;

struct sinh : floating_unary<sinh> {
  static constexpr const char* name = "sinh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sinh(x); }
  template <class T> static T reference(T x) { return std::sinh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<cosh>(x); }
};
struct cosh : floating_unary<cosh> {
  static constexpr const char* name = "cosh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::cosh(x); }
  template <class T> static T reference(T x) { return std::cosh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<sinh>(x); }
};

using trigonometric_operations = operation_list<sin, cos, atan, atan2, sinh, cosh>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Pointwise, in radians. Integers and bool are converted to float32 first. sin and cos of an infinity are NaN.
template <operand X> constexpr auto sin(const X& x) { return apply<ops::sin>(x); }
template <operand X> constexpr auto cos(const X& x) { return apply<ops::cos>(x); }
template <operand X> constexpr auto atan(const X& x) { return apply<ops::atan>(x); }
/// The gradient at (0, 0) is NaN.
template <class Y, class X> requires some_operand<Y, X> constexpr auto atan2(const Y& y, const X& x) { return apply<ops::atan2>(y, x); }
template <operand X> constexpr auto sinh(const X& x) { return apply<ops::sinh>(x); }
template <operand X> constexpr auto cosh(const X& x) { return apply<ops::cosh>(x); }

}  // namespace tenure
