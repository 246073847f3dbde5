// SPDX-License-Identifier: BSL-1.0
// Integer parts, integer quotients and remainders. Integers stay integers.
#pragma once

#include <cmath>

#include <tenure/math/remainder.hpp>
#include <tenure/ops/arithmetic.hpp>

namespace TENURE_NAMESPACE::ops {

struct ceil : rounding<ceil> {
  static constexpr const char* name = "ceil";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::ceil(x); }
  template <class T> static T rounded(T x) { return std::ceil(x); }
};

/// Rounds toward zero.
struct trunc : rounding<trunc> {
  static constexpr const char* name = "trunc";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::trunc(x); }
  template <class T> static T rounded(T x) { return std::trunc(x); }
};

/// The base of quotients and remainders.
template <class Self>
struct division : pointwise<Self, 2, typing::arithmetic> {
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    static_assert(dtype_v<typename X::element_type> != dtype::boolean || dtype_v<typename Y::element_type> != dtype::boolean,
                  "tenure: fmod, remainder, floor_divide: bool has no quotient; convert first");
    return pointwise<Self, 2, typing::arithmetic>::trace(x, y);
  }
};

/// x - trunc(x / y) * y, exactly, with the sign of x (C's fmod, % of C++). Its derivative in y is -trunc(x / y), as in PyTorch:
/// the quotient is rounded, so the derivative is off by one where x / y rounds up to an integer.
struct fmod : division<fmod> {
  static constexpr const char* name = "fmod";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: fmod: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::fmod(x, y); }
  template <class T> static constexpr T reference(T x, T y) {
    if constexpr (std::is_integral_v<T>) return number::fmod(x, y);
    else return std::fmod(x, y);
  }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) { return i == 0 ? g : -(g * pointwise_value<trunc>(x / y)); }
};

struct floor_divide;

/// x - floor(x / y) * y, with the sign of y (PyTorch's remainder, % of Python; not C's, which rounds the quotient to nearest). Its derivative in y is
/// -floor_divide(x, y).
struct remainder : division<remainder> {
  static constexpr const char* name = "remainder";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: remainder: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::remainder(x, y); }
  template <class T> static constexpr T reference(T x, T y) {
    if constexpr (std::is_integral_v<T>) return number::remainder(x, y);
    else {
      const T r = std::fmod(x, y);
      return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
    }
  }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) { return i == 0 ? g : -(g * pointwise_value<floor_divide>(x, y)); }
};

/// floor(x / y), computed from the exact remainder, as in PyTorch and Python. The derivative is 0 everywhere.
struct floor_divide : division<floor_divide> {
  static constexpr const char* name = "floor_divide";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: floor_divide: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::floor_divide(x, y); }
  template <class T> static constexpr T reference(T x, T y) {
    if constexpr (std::is_integral_v<T>) return number::floor_divide(x, y);
    else {
      if (y == T(0)) return x / y;
      const T r = std::fmod(x, y);
      const T whole = (x - r) / y - (r != T(0) && (r < T(0)) != (y < T(0)) ? T(1) : T(0));
      if (whole == T(0)) return std::copysign(T(0), x / y);
      const T below = std::floor(whole);
      return whole - below > T(0.5) ? below + T(1) : below;
    }
  }
  template <class V> static constexpr V derivative(int, V g, V, V, V) { return g.like(0); }
};

using remainder_operations = operation_list<ceil, trunc, fmod, remainder, floor_divide>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// ceil rounds up, trunc toward zero. Integers do not change. The derivative is 0 everywhere.
template <operand X> constexpr auto ceil(const X& x) { return apply<ops::ceil>(x); }
template <operand X> constexpr auto trunc(const X& x) { return apply<ops::trunc>(x); }
/// Quotients and remainders as in PyTorch; integers stay integers. fmod and the results of integers are exact. floor_divide is floor(x / y).
/// remainder, which is also x % y, has the sign of y; fmod has the sign of x, as % of C++. Division by 0: integers give 0 (PyTorch throws), a
/// floating floor_divide gives x / 0, and floating remainders are NaN. The derivative of fmod and remainder is 1 in x and minus the integer quotient
/// in y. The derivative of floor_divide is 0. Two bool operands do not compile.
template <class X, class Y> requires some_operand<X, Y> constexpr auto fmod(const X& x, const Y& y) { return apply<ops::fmod>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto remainder(const X& x, const Y& y) { return apply<ops::remainder>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto operator%(const X& x, const Y& y) { return apply<ops::remainder>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto floor_divide(const X& x, const Y& y) { return apply<ops::floor_divide>(x, y); }

}  // namespace tenure
