// SPDX-License-Identifier: BSL-1.0
// Trigonometric functions, sinh and cosh, and the inverses of all of them but tanh's, which is an activation.
#pragma once

#include <cmath>

#include <tenure/math/hyperbolic.hpp>
#include <tenure/math/inverse_hyperbolic.hpp>
#include <tenure/math/inverse_trigonometric.hpp>
#include <tenure/math/trigonometric.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
/// 1 - x^2 with one rounding. Near |x| = 1 a separate rounding of x^2 would cost half of the digits.
template <class V>
constexpr V one_minus_square(V x) { return pointwise_value<multiply_add>(-x, x, x.like(1)); }

/// is_so: whether |x| > bound. inverse: 1 / |x| there, and 1 elsewhere. Derivatives for large |x| are written with `inverse`, because x^2 overflows,
/// or its square does in the next derivative.
template <class V>
struct large {
  V is_so, inverse;
  constexpr large(V x, double bound) {
    const V size = pointwise_value<abs>(x);
    is_so = pointwise_value<greater>(size, x.like(bound));
    inverse = 1.0 / pointwise_value<where>(is_so, size, x.like(1));
  }
};
}  // namespace detail

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

struct tan : floating_unary<tan> {
  static constexpr const char* name = "tan";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::tan(x); }
  template <class T> static T reference(T x) { return std::tan(x); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * (y * y + 1); }
};

/// In [-pi/2, pi/2], and NaN beyond [-1, 1]. The derivative is infinite at -1 and 1.
struct asin : floating_unary<asin> {
  static constexpr const char* name = "asin";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::asin(x); }
  template <class T> static T reference(T x) { return std::asin(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<rsqrt>(detail::one_minus_square(x)); }
};

/// In [0, pi], and NaN beyond [-1, 1].
struct acos : floating_unary<acos> {
  static constexpr const char* name = "acos";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::acos(x); }
  template <class T> static T reference(T x) { return std::acos(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return -(g * pointwise_value<rsqrt>(detail::one_minus_square(x))); }
};

struct atan : floating_unary<atan> {
  static constexpr const char* name = "atan";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::atan(x); }
  template <class T> static T reference(T x) { return std::atan(x); }
  /// 1 / (x^2 + 1). Where |x| > 1, numerator and denominator are divided by |x|.
  template <class V> static constexpr V derivative(int, V g, V x, V) {
    const detail::large<V> far(x, 1);
    const V size = pointwise_value<abs>(x);
    return g * (far.inverse / (size * pointwise_value<where>(far.is_so, x.like(1), size) + far.inverse));
  }
};

/// The angle of the point (x, y). At (0, 0) it is 0 or pi by the signs of the zeros, and its gradient is NaN (PyTorch: 0).
struct atan2 : pointwise<atan2, 2, typing::floating> {
  static constexpr const char* name = "atan2";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: atan2: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P y, P x) { return math::atan2(y, x); }
  template <class T> static T reference(T y, T x) { return std::atan2(y, x); }
  template <class V> static constexpr V derivative(int i, V g, V y, V x, V) {
    // x and y are divided by the larger of |x| and |y|: x^2 + y^2 may be out of range where x / (x^2 + y^2) is not. The derivative does not depend on
    // this unit. `least` keeps the reciprocal of the unit in range.
    const double least = y.type() == dtype::float64 ? 0x1p-1022 : 0x1p-126;
    const V larger = pointwise_value<maximum>(pointwise_value<abs>(x), pointwise_value<abs>(y));
    const V unit = stopped(1.0 / pointwise_value<maximum>(larger, x.like(least)));
    const V a = x * unit, b = y * unit, inverse = 1.0 / (a * a + b * b);
    return i == 0 ? g * (a * inverse * unit) : -(g * (b * inverse * unit));
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

struct asinh : floating_unary<asinh> {
  static constexpr const char* name = "asinh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::asinh(x); }
  template <class T> static T reference(T x) { return std::asinh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) {
    const detail::large<V> far(x, 1);
    const V u = pointwise_value<where>(far.is_so, far.inverse, x);
    return g * (far.inverse * pointwise_value<rsqrt>(u * u + 1));
  }
};

/// NaN below 1. At 1 the value is 0 and the derivative infinite.
struct acosh : floating_unary<acosh> {
  static constexpr const char* name = "acosh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::acosh(x); }
  template <class T> static T reference(T x) { return std::acosh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) {
    // The root of x^2 - 1, or of 1 - 1 / x^2 where x > 2.
    const detail::large<V> far(x, 2);
    const V u = pointwise_value<where>(far.is_so, far.inverse, x), one = x.like(1);
    const V square = pointwise_value<multiply_add>(u, pointwise_value<where>(far.is_so, -u, u), pointwise_value<where>(far.is_so, one, -one));
    return g * (far.inverse * pointwise_value<rsqrt>(square));
  }
};

/// Infinite at -1 and 1, and NaN beyond.
struct atanh : floating_unary<atanh> {
  static constexpr const char* name = "atanh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::atanh(x); }
  template <class T> static T reference(T x) { return std::atanh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g / detail::one_minus_square(x); }
};

using trigonometric_operations = operation_list<sin, cos, atan, atan2, sinh, cosh, tan, asin, acos, asinh, acosh, atanh>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Pointwise, in radians. Integers and bool are converted to float32 first. sin, cos and tan of an infinity are NaN.
template <operand X> constexpr auto sin(const X& x) { return apply<ops::sin>(x); }
template <operand X> constexpr auto cos(const X& x) { return apply<ops::cos>(x); }
template <operand X> constexpr auto tan(const X& x) { return apply<ops::tan>(x); }
/// The inverse functions, in radians. Element types: as sin. asin and acos are NaN beyond [-1, 1], and their derivatives are infinite at -1
/// and 1.
template <operand X> constexpr auto asin(const X& x) { return apply<ops::asin>(x); }
template <operand X> constexpr auto acos(const X& x) { return apply<ops::acos>(x); }
template <operand X> constexpr auto atan(const X& x) { return apply<ops::atan>(x); }
/// The angle of the point (x, y), from -pi to pi. Shapes broadcast, and element types promote as in y / x. The gradient at (0, 0) is NaN.
template <class Y, class X> requires some_operand<Y, X> constexpr auto atan2(const Y& y, const X& x) { return apply<ops::atan2>(y, x); }
/// The hyperbolic functions. Element types: as sin.
template <operand X> constexpr auto sinh(const X& x) { return apply<ops::sinh>(x); }
template <operand X> constexpr auto cosh(const X& x) { return apply<ops::cosh>(x); }
/// The inverses of the hyperbolic functions. Element types: as sin. acosh is NaN below 1, and its derivative is infinite at 1. atanh is
/// infinite at -1 and 1, as its derivative is, and NaN beyond.
template <operand X> constexpr auto asinh(const X& x) { return apply<ops::asinh>(x); }
template <operand X> constexpr auto acosh(const X& x) { return apply<ops::acosh>(x); }
template <operand X> constexpr auto atanh(const X& x) { return apply<ops::atanh>(x); }

}  // namespace tenure
