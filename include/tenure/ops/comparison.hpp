// SPDX-License-Identifier: BSL-1.0
// Comparisons, logic on bool, and where. No gradient flows through comparisons and logic. `where` passes the cotangent to the operand
// that it chose, and 0 to the other operand.
#pragma once

#include <limits>

#include <tenure/math/packet.hpp>
#include <tenure/ops/pointwise.hpp>

namespace TENURE_NAMESPACE::ops {

template <class... Op>
struct operation_list {};

template <class Op>
using comparison = piecewise_constant<Op, 2, typing::comparison>;

struct equal : comparison<equal> {
  static constexpr const char* name = "equal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: equal: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::eq(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x == y; }
};
struct not_equal : comparison<not_equal> {
  static constexpr const char* name = "not_equal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: not_equal: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::ne(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x != y; }
};
struct less : comparison<less> {
  static constexpr const char* name = "less";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: less: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::lt(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x < y; }
};
struct less_equal : comparison<less_equal> {
  static constexpr const char* name = "less_equal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: less_equal: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::le(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x <= y; }
};
struct greater : comparison<greater> {
  static constexpr const char* name = "greater";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: greater: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::gt(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x > y; }
};
struct greater_equal : comparison<greater_equal> {
  static constexpr const char* name = "greater_equal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: greater_equal: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER auto evaluate(P x, P y) { return math::ge(x, y); }
  template <class T> static constexpr bool reference(T x, T y) { return x >= y; }
};

struct logical_and : piecewise_constant<logical_and, 2, typing::logical> {
  static constexpr const char* name = "logical_and";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: logical_and: the extents differ and neither of them is 1"); }
  template <class M> static TENURE_KERNEL_LAYER M evaluate(M x, M y) { return math::mask_and(x, y); }
  static constexpr bool reference(bool x, bool y) { return x && y; }
};
struct logical_or : piecewise_constant<logical_or, 2, typing::logical> {
  static constexpr const char* name = "logical_or";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: logical_or: the extents differ and neither of them is 1"); }
  template <class M> static TENURE_KERNEL_LAYER M evaluate(M x, M y) { return math::mask_or(x, y); }
  static constexpr bool reference(bool x, bool y) { return x || y; }
};
struct logical_not : piecewise_constant<logical_not, 1, typing::logical> {
  static constexpr const char* name = "logical_not";
  template <class M> static TENURE_KERNEL_LAYER M evaluate(M x) { return math::mask_not(x); }
  static constexpr bool reference(bool x) { return !x; }
};

/// condition ? x : y for each element.
struct where : pointwise<where, 3, typing::selection> {
  static constexpr const char* name = "where";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: where: the extents differ and neither of them is 1"); }
  template <class M, class P> static TENURE_KERNEL_LAYER P evaluate(M c, P x, P y) { return math::select(c, x, y); }
  template <class T> static constexpr T reference(bool c, T x, T y) { return c ? x : y; }
  template <class V> static constexpr V derivative(int i, V g, V c, V, V, V) {
    return i == 0 ? g.like(0) : i == 1 ? pointwise_value<where>(c, g, g.like(0)) : pointwise_value<where>(c, g.like(0), g);
  }
};

// Comparisons with the largest number of the type. Whole numbers and bool are always finite.
struct isnan {
  static constexpr auto trace(const auto& x) { return not_equal::trace(x, x); }
};
struct isfinite {
  template <class X>
  static constexpr auto trace(const X& x) {
    using T = typename X::element_type;
    const value v = x;
    if constexpr (is_floating(dtype_v<T>)) {
      const double most = static_cast<double>(std::numeric_limits<T>::max());
      return traced<bool, typename X::shape_type>{x.graph, pointwise_value<logical_and>(pointwise_value<less_equal>(v, v.like(most)), pointwise_value<greater_equal>(v, v.like(-most))).id};
    } else {
      return equal::trace(x, x);
    }
  }
};
struct isinf {
  static constexpr auto trace(const auto& x) { return logical_not::trace(logical_or::trace(isfinite::trace(x), isnan::trace(x))); }
};

using comparison_operations = operation_list<equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_not, where>;

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// Comparisons give bool. Shapes broadcast, and element types promote as in arithmetic. A comparison with NaN is false, except != which
/// is true. && and || and ! need bool operands. && and || evaluate both operands. No gradient flows through any of them.
template <class X, class Y> requires comparable<X, Y> constexpr auto operator==(const X& x, const Y& y) { return apply<ops::equal>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator!=(const X& x, const Y& y) { return apply<ops::not_equal>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator<(const X& x, const Y& y) { return apply<ops::less>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator<=(const X& x, const Y& y) { return apply<ops::less_equal>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator>(const X& x, const Y& y) { return apply<ops::greater>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator>=(const X& x, const Y& y) { return apply<ops::greater_equal>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator&&(const X& x, const Y& y) { return apply<ops::logical_and>(x, y); }
template <class X, class Y> requires comparable<X, Y> constexpr auto operator||(const X& x, const Y& y) { return apply<ops::logical_or>(x, y); }
template <operand X> constexpr auto operator!(const X& x) { return apply<ops::logical_not>(x); }
/// Whether each element is NaN, infinite, or finite, as bool.
template <operand_or_scalar X> constexpr auto isnan(const X& x) { return apply<ops::isnan>(x); }
template <operand_or_scalar X> constexpr auto isinf(const X& x) { return apply<ops::isinf>(x); }
template <operand_or_scalar X> constexpr auto isfinite(const X& x) { return apply<ops::isfinite>(x); }
/// These do not compile. NumPy writes &, |, ~, ^ for masks, and the messages say what to write here.
template <class X, class Y> requires joinable<X, Y> constexpr auto operator&(const X& x, const Y&) { static_assert(detail::never<Y>, "tenure: operator&: masks are joined by &&; integers have no operations on bits"); return detail::stand_in(x); }
template <class X, class Y> requires joinable<X, Y> constexpr auto operator|(const X& x, const Y&) { static_assert(detail::never<Y>, "tenure: operator|: masks are joined by ||; integers have no operations on bits"); return detail::stand_in(x); }
template <operand X> constexpr auto operator~(const X& x) { static_assert(detail::never<X>, "tenure: operator~: a mask is negated by !; integers have no operations on bits"); return detail::stand_in(x); }
template <class X, class Y> requires joinable<X, Y> constexpr auto operator^(const X& x, const Y&) { static_assert(detail::never<Y>, "tenure: operator^: a power is pow(x, y), masks that differ are x != y"); return detail::stand_in(x); }
/// x where c is true, else y. c must be bool. All three broadcast, and the element types of x and y promote. A NaN in the operand that is not chosen
/// does not reach the result. The gradient through that operand is 0 times its derivative: NaN where the derivative is infinite or NaN, as in
/// PyTorch.
template <class C, class X, class Y> requires some_operand<C, X, Y> constexpr auto where(const C& c, const X& x, const Y& y) {
  if constexpr (std::is_same_v<C, bool>) return apply<ops::where>(detail::flag{c}, x, y);
  else return apply<ops::where>(c, x, y);
}
/// Does not compile with one or two arguments. The message says what is missing.
template <class C, class... X> requires(some_operand<C, X...> && sizeof...(X) < 2) constexpr auto where(const C& c, const X&... x) {
  static_assert(detail::never<C>, "tenure: where: it is where(c, x, y), x where c is true and y elsewhere: there are no indices of the true elements, whose number only the run knows");
  return detail::stand_in(x..., c);
}

}  // namespace tenure
