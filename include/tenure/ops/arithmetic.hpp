// SPDX-License-Identifier: BSL-1.0
// Arithmetic: negation, the four basic operations, absolute value, sign, minimum and maximum, rounding, clamp, lerp.
#pragma once

#include <cmath>

#include <tenure/math/twin.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/ops/pointwise.hpp>

namespace TENURE_NAMESPACE::ops {

struct neg : pointwise<neg, 1, typing::arithmetic> {
  static constexpr const char* name = "neg";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::neg(x); }
  template <class T> static constexpr T reference(T x) { return number::neg(x); }
  template <class V> static constexpr V derivative(int, V g, V, V) { return -g; }
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(dtype_v<typename X::element_type> != dtype::boolean, "tenure: neg: bool has no negative; use ! or convert first");
    return pointwise::trace(x);
  }
};

struct add : pointwise<add, 2, typing::arithmetic> {
  static constexpr const char* name = "add";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: add: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::add(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return number::add(x, y); }
  template <class V> static constexpr V derivative(int, V g, V, V, V) { return g; }
};

struct sub : pointwise<sub, 2, typing::arithmetic> {
  static constexpr const char* name = "sub";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: sub: the extents differ and neither of them is 1: with tn::keepdim a reduction keeps its axis, as in x - mean(x, tn::axis<1>, tn::keepdim)"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::sub(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return number::sub(x, y); }
  template <class V> static constexpr V derivative(int i, V g, V, V, V) { return i == 0 ? g : -g; }
  template <class X, class Y>
  static constexpr auto trace(const X& x, const Y& y) {
    static_assert(dtype_v<typename X::element_type> != dtype::boolean || dtype_v<typename Y::element_type> != dtype::boolean,
                  "tenure: sub: bool has no subtraction; use != or convert first");
    return pointwise::trace(x, y);
  }
};

struct mul : pointwise<mul, 2, typing::arithmetic>, keeps_numbers {
  static constexpr const char* name = "mul";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: mul: the extents differ and neither of them is 1: the product of matrices is matmul(a, b)"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::mul(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return number::mul(x, y); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) { return i == 0 ? g * y : g * x; }
};

/// True division: integers are converted to float32 first, as in PyTorch. The derivative does not read the result, so that the memory of the result
/// may be overwritten. The derivative computes x / y again; if one graph has both quotients, cse merges them.
struct div : pointwise<div, 2, typing::floating>, keeps_numbers {
  static constexpr const char* name = "div";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: div: the extents differ and neither of them is 1: with tn::keepdim a reduction keeps its axis, as in x / norm(x, tn::axis<1>, tn::keepdim)"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::div(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return static_cast<T>(x / y); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) { return i == 0 ? g / y : -(g * (x / y) / y); }
};

/// -1, 0 or 1. The sign of +0 and of -0 is 0, and the sign of NaN is NaN. The derivative is 0 everywhere.
struct sign : piecewise_constant<sign, 1, typing::arithmetic> {
  static constexpr const char* name = "sign";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) {
    const P zero = math::set1<P>(0), one = math::set1<P>(1);
    return math::select(math::gt(x, zero), one, math::select(math::lt(x, zero), math::neg(one), math::mul(x, zero)));
  }
  template <class T> static constexpr T reference(T x) { return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-T(1)) : static_cast<T>(x * T(0)); }
};

/// |x|. The derivative is sign(x): it is 0 at 0, and NaN at NaN.
struct abs : pointwise<abs, 1, typing::arithmetic> {
  static constexpr const char* name = "abs";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::abs(x); }
  template <class T> static constexpr T reference(T x) { return x < T(0) ? number::neg(x) : x == T(0) ? T(0) : x; }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<sign>(x); }
};

/// The cotangent of an operand of maximum or minimum: 0 where the operand was not chosen, half of g at a tie, else g. If an operand is
/// NaN, both get g (PyTorch's rule).
template <class V>
constexpr V share_of_winner(V g, V loses, V ties) {
  return pointwise_value<where>(loses, g.like(0), pointwise_value<where>(ties, g * 0.5, g));
}

/// If an operand is NaN, the result is NaN and the gradient flows to both operands. At a tie each operand gets half of the gradient.
struct maximum : pointwise<maximum, 2, typing::arithmetic> {
  static constexpr const char* name = "maximum";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: maximum: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::max(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return x != x ? x : y != y ? y : x < y ? y : x; }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    return share_of_winner(g, i == 0 ? pointwise_value<less>(x, y) : pointwise_value<less>(y, x), pointwise_value<equal>(x, y));
  }
};

struct minimum : pointwise<minimum, 2, typing::arithmetic> {
  static constexpr const char* name = "minimum";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: minimum: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::min(x, y); }
  template <class T> static constexpr T reference(T x, T y) { return x != x ? x : y != y ? y : y < x ? y : x; }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    return share_of_winner(g, i == 0 ? pointwise_value<greater>(x, y) : pointwise_value<greater>(y, x), pointwise_value<equal>(x, y));
  }
};

/// Rounds to an integer. Integers do not change, and the derivative is 0 everywhere.
template <class Self>
struct rounding : piecewise_constant<Self, 1, typing::arithmetic> {
  template <class T> static constexpr T reference(T x) {
    if constexpr (std::is_floating_point_v<T>) return Self::rounded(x);
    else return x;
  }
};

struct floor : rounding<floor> {
  static constexpr const char* name = "floor";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::floor(x); }
  template <class T> static T rounded(T x) { return std::floor(x); }
};

/// The nearest integer. A half goes to the even neighbour.
struct round : rounding<round> {
  static constexpr const char* name = "round";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::round(x); }
  template <class T> static T rounded(T x) { return std::nearbyint(x); }
};

/// The larger operand. Unlike maximum: if one operand is NaN, the result is the other one, and at a tie all of the gradient flows to x, as in
/// PyTorch.
struct fmax : pointwise<fmax, 2, typing::arithmetic> {
  static constexpr const char* name = "fmax";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: fmax: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::select(math::mask_or(math::ge(x, y), math::ne(y, y)), x, y); }
  template <class T> static constexpr T reference(T x, T y) { return x >= y || y != y ? x : y; }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    const V first = pointwise_value<logical_or>(pointwise_value<greater_equal>(x, y), pointwise_value<not_equal>(y, y));
    return i == 0 ? pointwise_value<where>(first, g, g.like(0)) : pointwise_value<where>(first, g.like(0), g);
  }
};

/// The smaller operand, with the rules of fmax.
struct fmin : pointwise<fmin, 2, typing::arithmetic> {
  static constexpr const char* name = "fmin";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: fmin: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::select(math::mask_or(math::le(x, y), math::ne(y, y)), x, y); }
  template <class T> static constexpr T reference(T x, T y) { return x <= y || y != y ? x : y; }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    const V first = pointwise_value<logical_or>(pointwise_value<less_equal>(x, y), pointwise_value<not_equal>(y, y));
    return i == 0 ? pointwise_value<where>(first, g, g.like(0)) : pointwise_value<where>(first, g.like(0), g);
  }
};

/// x * y + z with one rounding. Derivatives use it where the sum cancels.
struct multiply_add : pointwise<multiply_add, 3, typing::arithmetic> {
  static constexpr const char* name = "multiply_add";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y, P z) { return math::detail::exact_multiply_add(x, y, z); }
  template <class T> static T reference(T x, T y, T z) {
    if constexpr (std::is_floating_point_v<T>) return std::fma(x, y, z);
    else return number::add(number::mul(x, y), z);
  }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V, V) { return i == 0 ? g * y : i == 1 ? g * x : g; }
};

using arithmetic_operations = operation_list<neg, add, sub, mul, div, sign, abs, maximum, minimum, floor, round, fmax, fmin>;

struct square {
  static constexpr auto trace(const auto& x) { return mul::trace(x, x); }
};

namespace detail {
/// The value of x. No gradient flows through it.
template <class X>
constexpr X without_gradient(const X& x) { return {x.graph, stopped(x).id}; }
}  // namespace detail

/// minimum(maximum(x, lo), hi). The result is hi where lo > hi, and NaN where an operand is NaN. The gradient flows to x where lo <= x <= hi, and
/// elsewhere to the bound that is the result. Where x is NaN, no gradient flows to x.
struct clamp : composed<clamp> {
  static constexpr const char* name = "clamp";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: clamp: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& lo, const auto& hi) {
    const auto bound = minimum::trace(maximum::trace(detail::without_gradient(x), lo), hi);
    return where::trace(logical_and::trace(greater_equal::trace(x, lo), less_equal::trace(x, hi)), x, bound);
  }
};

/// maximum(x, lo), with the gradient of clamp.
struct clamp_min : composed<clamp_min> {
  static constexpr const char* name = "clamp_min";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: clamp_min: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& lo) {
    return where::trace(greater_equal::trace(x, lo), x, maximum::trace(detail::without_gradient(x), lo));
  }
};
/// minimum(x, hi), with the gradient of clamp.
struct clamp_max : composed<clamp_max> {
  static constexpr const char* name = "clamp_max";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: clamp_max: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& hi) {
    return where::trace(less_equal::trace(x, hi), x, minimum::trace(detail::without_gradient(x), hi));
  }
};

/// x + w * (y - x), or y + (w - 1) * (y - x) where w >= 1/2 (PyTorch's rule), so that the result is exactly y where w is 1. The operands are selected
/// and not the results: the gradient of an unselected result would be 0 times an infinite difference, which is NaN.
struct lerp : composed<lerp>, rounds_once {
  static constexpr const char* name = "lerp";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: lerp: the extents differ and neither of them is 1"); }
  template <class X, class Y, class W>
  static constexpr auto compose(const X& x, const Y& y, const W& w) {
    constexpr bool are_bool = dtype_v<typename X::element_type> == dtype::boolean && dtype_v<typename Y::element_type> == dtype::boolean;
    static_assert(!are_bool, "tenure: lerp: bool has no subtraction; convert first");
    if constexpr (are_bool) return x;
    else return between(x, y, w);
  }

 private:
  template <class X, class Y, class W>
  static constexpr auto between(const X& x, const Y& y, const W& w) {
    const auto difference = sub::trace(y, x);
    const auto from_x = add::trace(x, mul::trace(w, difference));
    if constexpr (is_floating(dtype_v<typename W::element_type>)) {
      using result = std::remove_const_t<decltype(from_x)>;
      const W one{w.graph, value(w).like(1).id};
      if (const ir::node given = value(w).node(); given.op == ir::opcode::constant) {
        if (ir::value_of(given) < 0.5) return from_x;
        return result{w.graph, value(add::trace(y, mul::trace(sub::trace(w, one), difference))).id};
      }
      const auto is_near_x = less::trace(w, W{w.graph, value(w).like(0.5).id});
      const auto weight = where::trace(is_near_x, w, sub::trace(w, one));
      return result{w.graph, value(add::trace(where::trace(is_near_x, x, y), mul::trace(weight, difference))).id};
    } else {
      return from_x;
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Pointwise arithmetic. Shapes broadcast: they are aligned at the last axis, and a static extent of 1 stretches. A run-time extent never stretches.
/// Element types promote as in PyTorch: a scalar changes the type of a tensor only if its category is higher (bool, integer, floating). x / y of
/// integers is float32. Integers wrap around: for the least integer, -x and abs(x) give x itself. -x of bool and x - y of two bool operands do not
/// compile.
template <operand X> constexpr auto operator-(const X& x) { return apply<ops::neg>(x); }
template <class X, class Y> requires summable<X, Y> constexpr auto operator+(const X& x, const Y& y) { return apply<ops::add>(x, y); }
template <class X, class Y> requires summable<X, Y> constexpr auto operator-(const X& x, const Y& y) { return apply<ops::sub>(x, y); }
template <class X, class Y> requires summable<X, Y> constexpr auto operator*(const X& x, const Y& y) { return apply<ops::mul>(x, y); }
template <class X, class Y> requires summable<X, Y> constexpr auto operator/(const X& x, const Y& y) { return apply<ops::div>(x, y); }

// A temporary expression is moved into a larger one: a copy would count its tensors once more on each level. These overloads take an lvalue and a number by
// reference, which may be a bit-field.
template <class E, class Y> requires detail::joins_temporary<E, Y> constexpr auto operator+(E&& x, const Y& y) { return detail::apply_moving<ops::add>(std::move(x), y); }
template <class E, class Y> requires detail::joins_temporary<E, Y> constexpr auto operator-(E&& x, const Y& y) { return detail::apply_moving<ops::sub>(std::move(x), y); }
template <class E, class Y> requires detail::joins_temporary<E, Y> constexpr auto operator*(E&& x, const Y& y) { return detail::apply_moving<ops::mul>(std::move(x), y); }
template <class E, class Y> requires detail::joins_temporary<E, Y> constexpr auto operator/(E&& x, const Y& y) { return detail::apply_moving<ops::div>(std::move(x), y); }
template <class X, class E> requires detail::joins_temporary<E, X> constexpr auto operator+(const X& x, E&& y) { return detail::apply_moving<ops::add>(x, std::move(y)); }
template <class X, class E> requires detail::joins_temporary<E, X> constexpr auto operator-(const X& x, E&& y) { return detail::apply_moving<ops::sub>(x, std::move(y)); }
template <class X, class E> requires detail::joins_temporary<E, X> constexpr auto operator*(const X& x, E&& y) { return detail::apply_moving<ops::mul>(x, std::move(y)); }
template <class X, class E> requires detail::joins_temporary<E, X> constexpr auto operator/(const X& x, E&& y) { return detail::apply_moving<ops::div>(x, std::move(y)); }
template <class E, class F> requires(detail::joins_temporary<E, F> && detail::joins_temporary<F, E>) constexpr auto operator+(E&& x, F&& y) { return detail::apply_moving<ops::add>(std::move(x), std::move(y)); }
template <class E, class F> requires(detail::joins_temporary<E, F> && detail::joins_temporary<F, E>) constexpr auto operator-(E&& x, F&& y) { return detail::apply_moving<ops::sub>(std::move(x), std::move(y)); }
template <class E, class F> requires(detail::joins_temporary<E, F> && detail::joins_temporary<F, E>) constexpr auto operator*(E&& x, F&& y) { return detail::apply_moving<ops::mul>(std::move(x), std::move(y)); }
template <class E, class F> requires(detail::joins_temporary<E, F> && detail::joins_temporary<F, E>) constexpr auto operator/(E&& x, F&& y) { return detail::apply_moving<ops::div>(std::move(x), std::move(y)); }

/// |x|. The element type stays. The gradient at 0 is 0, and NaN where x is NaN.
template <operand X> constexpr auto abs(const X& x) { return apply<ops::abs>(x); }
/// sign is -1, 0 or 1: 0 for +0 and -0, and NaN for NaN. round takes a half to the even neighbour. floor and round do not change integers. The
/// derivative of all three is 0 everywhere.
template <operand X> constexpr auto sign(const X& x) { return apply<ops::sign>(x); }
template <operand X> constexpr auto floor(const X& x) { return apply<ops::floor>(x); }
template <operand X> constexpr auto round(const X& x) { return apply<ops::round>(x); }
/// x * x. The element type stays, and integers wrap around.
template <operand X> constexpr auto square(const X& x) { return apply<ops::square>(x); }
/// The larger or smaller one of x and y. Shapes broadcast, and element types promote as in x + y. The result is NaN where an operand is
/// NaN, and then the gradient flows to both operands. At a tie each operand gets half of it.
template <class X, class Y> requires some_operand<X, Y> constexpr auto maximum(const X& x, const Y& y) { return apply<ops::maximum>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto minimum(const X& x, const Y& y) { return apply<ops::minimum>(x, y); }
/// maximum and minimum that ignore NaN: if one operand is NaN, the result is the other operand. At a tie all of the gradient flows to x.
template <class X, class Y> requires some_operand<X, Y> constexpr auto fmax(const X& x, const Y& y) { return apply<ops::fmax>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto fmin(const X& x, const Y& y) { return apply<ops::fmin>(x, y); }
/// minimum(maximum(x, lo), hi). The gradient flows to x where lo <= x <= hi. It does not flow to x where x is NaN.
template <class X, class L, class H> requires some_operand<X, L, H> constexpr auto clamp(const X& x, const L& lo, const H& hi) { return apply<ops::clamp>(x, lo, hi); }
template <class X, class L> requires some_operand<X, L> constexpr auto clamp_min(const X& x, const L& lo) { return apply<ops::clamp_min>(x, lo); }
template <class X, class H> requires some_operand<X, H> constexpr auto clamp_max(const X& x, const H& hi) { return apply<ops::clamp_max>(x, hi); }
/// x + w * (y - x), as PyTorch computes it. For finite x and y it is exactly x where w is 0, and exactly y where a floating w is 1. w may be below 0
/// or above 1.
template <class X, class Y, class W> requires some_operand<X, Y, W> constexpr auto lerp(const X& x, const Y& y, const W& w) { return apply<ops::lerp>(x, y, w); }
/// 1 / x. Integers give float32.
template <operand X> constexpr auto reciprocal(const X& x) { return apply<ops::div>(1, x); }

}  // namespace tenure
