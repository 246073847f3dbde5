// SPDX-License-Identifier: BSL-1.0
// Exponentials, logarithms, powers and roots.
#pragma once

#include <cmath>
#include <limits>

#include <tenure/math/exponential.hpp>
#include <tenure/math/log10.hpp>
#include <tenure/math/logarithm.hpp>
#include <tenure/math/power.hpp>
#include <tenure/ops/arithmetic.hpp>

namespace TENURE_NAMESPACE::ops {

template <class Op>
using floating_unary = pointwise<Op, 1, typing::floating>;

struct exp : floating_unary<exp> {
  static constexpr const char* name = "exp";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::exp(x); }
  template <class T> static T reference(T x) { return std::exp(x); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * y; }
};

/// 2^x.
struct exp2 : floating_unary<exp2> {
  static constexpr const char* name = "exp2";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::exp2(x); }
  template <class T> static T reference(T x) { return std::exp2(x); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * y * 0.693147180559945309417; }
};

struct expm1 : floating_unary<expm1> {
  static constexpr const char* name = "expm1";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::expm1(x); }
  template <class T> static T reference(T x) { return std::expm1(x); }
  /// e^x, because y + 1 would have lost its digits where y is near -1.
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<exp>(x); }
};

struct log : floating_unary<log> {
  static constexpr const char* name = "log";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::log(x); }
  template <class T> static T reference(T x) { return std::log(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g / x; }
};

struct log1p : floating_unary<log1p> {
  static constexpr const char* name = "log1p";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::log1p(x); }
  template <class T> static T reference(T x) { return std::log1p(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g / (x + 1); }
};

struct log2 : floating_unary<log2> {
  static constexpr const char* name = "log2";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::log2(x); }
  template <class T> static T reference(T x) { return std::log2(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * 1.44269504088896340736 / x; }
};

struct log10 : floating_unary<log10> {
  static constexpr const char* name = "log10";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::log10(x); }
  template <class T> static T reference(T x) { return std::log10(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * 0.434294481903251827651 / x; }
};

struct sqrt : floating_unary<sqrt> {
  static constexpr const char* name = "sqrt";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sqrt(x); }
  template <class T> static T reference(T x) { return std::sqrt(x); }
  /// 1 / y is in range for each y except 0, where both it and the derivative are inf. So all directions of a Jacobian, and a program that divides by
  /// a distance, share one division.
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * (1.0 / y * 0.5); }
};

struct rsqrt : floating_unary<rsqrt> {
  static constexpr const char* name = "rsqrt";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::rsqrt(x); }
  template <class T> static T reference(T x) { return T(1) / std::sqrt(x); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * (y * -0.5 * (y * y)); }
};

/// x^y. The derivative in x is 0 where y is 0, also where x is 0 or NaN. The derivative in y is 0 where x is 0 and y >= 0, and so is its
/// own derivative in x. Second derivatives are the same in either order.
struct pow : pointwise<pow, 2, typing::floating> {
  static constexpr const char* name = "pow";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: pow: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::pow(x, y); }
  template <class T> static T reference(T x, T y) { return std::pow(x, y); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V r) {
    const V zero = g.like(0), one = g.like(1), root = pointwise_value<equal>(x, zero);
    if (i == 0) {
      const ir::node& known = y.node().op == ir::opcode::broadcast ? (*y.graph)[y.node().in[0]] : y.node();
      if (known.op == ir::opcode::constant && !ir::is_zero(known) && subtracts_one(known)) return g * (y * pointwise_value<pow>(x, y - 1));
      // y x^(y-1), or y x^y / x where y < 0.5, because there the rounding of y - 1 would be an error of hundreds of ulp in the power. Where x is 0 or
      // infinite the first form is right, and from 0.5 on y - 1 is exact. Where y is 0 the value is 0, but its derivative in y is 1 / x, so it is not
      // a constant 0. An operand that is not selected is finite and has finite derivatives, because 0 times infinity would give NaN.
      const V size = pointwise_value<abs>(x), exponent = pointwise_value<where>(root, stopped(y), y);
      const V is_inside = pointwise_value<logical_and>(pointwise_value<greater>(size, zero), pointwise_value<less>(size, g.like(std::numeric_limits<double>::infinity())));
      const V divides = pointwise_value<logical_and>(is_inside, pointwise_value<less>(y, g.like(0.5)));
      const V less_one = pointwise_value<where>(pointwise_value<equal>(y, zero), one, exponent) - 1;
      const V power = pointwise_value<pow>(x, pointwise_value<where>(divides, exponent, less_one));
      return g * (exponent * power / pointwise_value<where>(divides, x, one));
    }
    const V flat = pointwise_value<logical_and>(root, pointwise_value<greater_equal>(y, zero));
    return g * (r * pointwise_value<log>(pointwise_value<where>(flat, one, x)));
  }
  /// Whether y - 1 is exact in the type of the constant exponent y.
  static constexpr bool subtracts_one(const ir::node& y) {
    const double n = ir::value_of(y), rest = n - 1;
    return rest + 1 == n && n - rest == 1 && (y.type == dtype::float64 || static_cast<double>(static_cast<float>(rest)) == rest);
  }
  /// The constant exponents 0, 1, 2, 3 and -1 become products or a quotient, which cost less.
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    static_assert(is_floating(dtype_v<typename X::element_type>) || is_floating(dtype_v<typename Y::element_type>),
                  "tenure: pow: of integers: convert base or exponent to a floating type, or multiply");
    const auto general = pointwise::trace(x, y);
    const ir::node& exponent = (*y.graph)[y.id];
    if (exponent.op != ir::opcode::constant || !std::is_same_v<typename X::element_type, typename decltype(general)::element_type>) return general;
    const double n = ir::value_of(exponent);
    const value base = broadcast_to(x, (*general.graph)[general.id].shape);
    const value simple = n == 0 ? base.like(1) : n == 1 ? base : n == 2 ? base * base : n == 3 ? base * base * base : n == -1 ? 1 / base : value(general);
    return std::remove_const_t<decltype(general)>{general.graph, simple.id};
  }
};

/// x log y, and 0 where x is 0 and y is a number. The derivative in x is log y, and 0 where x is 0 and y <= 0. The derivative in y is x / y
/// (PyTorch's rules).
struct xlogy : pointwise<xlogy, 2, typing::floating> {
  static constexpr const char* name = "xlogy";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: xlogy: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) {
    const P zero = math::set1<P>(0);
    const auto none = math::mask_and(math::eq(x, zero), math::eq(y, y));
    return math::select(none, zero, math::mul(x, math::log(math::select(none, math::set1<P>(1), y))));
  }
  template <class T> static T reference(T x, T y) { return x == T(0) && y == y ? T(0) : x * std::log(y); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    if (i == 1) return g * x / y;
    const V zero = g.like(0), none = pointwise_value<logical_and>(pointwise_value<equal>(x, zero), pointwise_value<less_equal>(y, zero));
    return pointwise_value<where>(none, zero, pointwise_value<xlogy>(g, y));
  }
};

using exponential_operations = operation_list<exp, expm1, log, log1p, log2, sqrt, rsqrt, pow, xlogy, exp2, log10>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Pointwise. Integers and bool are converted to float32 first. exp2(x) is 2^x, expm1(x) is exp(x) - 1 and log1p(x) is log(1 + x), both without
/// cancellation near 0, and rsqrt(x) is 1 / sqrt(x). log10 of a power of ten is exact. log and sqrt of a negative number are NaN. At 0, log is -inf,
/// rsqrt is inf, and the derivative of sqrt is inf.
template <operand X> constexpr auto exp(const X& x) { return apply<ops::exp>(x); }
template <operand X> constexpr auto exp2(const X& x) { return apply<ops::exp2>(x); }
template <operand X> constexpr auto expm1(const X& x) { return apply<ops::expm1>(x); }
template <operand X> constexpr auto log(const X& x) { return apply<ops::log>(x); }
template <operand X> constexpr auto log1p(const X& x) { return apply<ops::log1p>(x); }
template <operand X> constexpr auto log2(const X& x) { return apply<ops::log2>(x); }
template <operand X> constexpr auto log10(const X& x) { return apply<ops::log10>(x); }
template <operand X> constexpr auto sqrt(const X& x) { return apply<ops::sqrt>(x); }
template <operand X> constexpr auto rsqrt(const X& x) { return apply<ops::rsqrt>(x); }
/// x^y. Shapes broadcast, and element types promote as in x * y. Two integer operands do not compile. The derivative in x is 0 where y is
/// 0. The derivative in y is 0 where x is 0 and y >= 0.
template <class X, class Y> requires some_operand<X, Y> constexpr auto pow(const X& x, const Y& y) { return apply<ops::pow>(x, y); }
/// x log y, and 0 where x is 0, unless y is NaN. Shapes broadcast; integers and bool are converted to float32 first. The derivative in x is
/// 0 where x is 0 and y <= 0.
template <class X, class Y> requires some_operand<X, Y> constexpr auto xlogy(const X& x, const Y& y) { return apply<ops::xlogy>(x, y); }

}  // namespace tenure
