// SPDX-License-Identifier: BSL-1.0
// Special functions: the logarithm of the gamma function and its derivatives; logarithms of probabilities; the normal distribution; the length of the
// hypotenuse.
#pragma once

#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/gamma.hpp>
#include <tenure/math/inverse_hyperbolic.hpp>
#include <tenure/math/normal_inverse.hpp>
#include <tenure/math/normal_tail.hpp>
#include <tenure/ops/activation.hpp>
#include <tenure/ops/comparison.hpp>

namespace TENURE_NAMESPACE::ops {

/// polygamma<2>. The derivative of it is not there.
struct tetragamma : floating_unary<tetragamma> {
  static constexpr const char* name = "tetragamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::tetragamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::tetragamma(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V, V) {
    g.graph->refuse({ir::diagnostic::kind::polygamma});
    return g;
  }
};

/// polygamma<1>.
struct trigamma : floating_unary<trigamma> {
  static constexpr const char* name = "trigamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::trigamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::trigamma(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<tetragamma>(x); }
};

/// The derivative of lgamma.
struct digamma : floating_unary<digamma> {
  static constexpr const char* name = "digamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::digamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::digamma(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<trigamma>(x); }
};

/// log |gamma(x)|.
struct lgamma : floating_unary<lgamma> {
  static constexpr const char* name = "lgamma";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::lgamma(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::lgamma(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<digamma>(x); }
};

/// log(e^x + e^y), without overflow. The derivatives are sigmoid(x - y) and sigmoid(y - x), and 1 / 2 where x and y are the same infinity.
struct logaddexp : pointwise<logaddexp, 2, typing::floating> {
  static constexpr const char* name = "logaddexp";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: logaddexp: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) {
    const P distance = math::select(math::eq(x, y), math::set1<P>(0), math::abs(math::sub(x, y)));
    return math::add(math::max(x, y), math::softplus(math::neg(distance)));
  }
  template <class T> static T reference(T x, T y) {
    return x != x ? x : y != y ? y : x == y ? x + T(0.693147180559945309417L) : (x > y ? x : y) + std::log1p(std::exp(-std::fabs(x - y)));
  }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V) {
    const V d = i == 0 ? x - y : y - x, zero = g.like(0);
    const V same = pointwise_value<logical_and>(pointwise_value<equal>(x, y), pointwise_value<equal>(pointwise_value<abs>(x), g.like(std::numeric_limits<double>::infinity())));
    return g * pointwise_value<sigmoid>(pointwise_value<where>(same, zero, d));
  }
};

/// The root of x^2 + y^2, without overflow. It is inf where either is infinite. The gradient at (0, 0) is NaN.
struct hypot : pointwise<hypot, 2, typing::floating> {
  static constexpr const char* name = "hypot";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: hypot: the extents differ and neither of them is 1"); }
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) {
    using T = math::scalar_of<P>;
    const P a = math::abs(x), b = math::abs(y), most = math::max(a, b), least = math::min(a, b), one = math::set1<P>(T(1)), inf = math::set1<P>(std::numeric_limits<T>::infinity());
    const P r = math::div(least, math::select(math::eq(most, math::set1<P>(T(0))), one, most));
    return math::select(math::mask_or(math::eq(a, inf), math::eq(b, inf)), inf, math::mul(most, math::sqrt(math::fma(r, r, one))));
  }
  template <class T> static T reference(T x, T y) { return std::hypot(x, y); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V r) { return g * ((i == 0 ? x : y) / r); }
};

/// log(x / (1 - x)). Near 1 / 2 it is 2 atanh(2 x - 1), which keeps the digits.
struct logit : floating_unary<logit> {
  static constexpr const char* name = "logit";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) {
    using T = math::scalar_of<P>;
    const P one = math::set1<P>(T(1)), t = math::sub(math::add(x, x), one);
    const auto near = math::le(math::abs(t), math::set1<P>(T(0.5)));
    const P middle = math::atanh(math::select(near, t, math::set1<P>(T(0))));
    return math::select(near, math::add(middle, middle), math::log(math::div(x, math::sub(one, x))));
  }
  template <class T> static T reference(T x) { return static_cast<T>(std::log(static_cast<long double>(x)) - std::log1p(-static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g / (x * (1 - x)); }
};

/// log(1 - e^-|x|). The digits are kept for small and for large |x|.
struct log1mexp : floating_unary<log1mexp> {
  static constexpr const char* name = "log1mexp";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) {
    const P a = math::neg(math::abs(x));
    return math::select(math::lt(a, math::set1<P>(math::scalar_of<P>(-0.693147180559945309417))), math::log1p(math::neg(math::exp(a))), math::log(math::neg(math::expm1(a))));
  }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::log1mexp(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) {
    const V size = pointwise_value<expm1>(pointwise_value<abs>(x));
    return g / pointwise_value<where>(pointwise_value<less>(x, x.like(0)), -size, size);
  }
};

struct normal_excess;

/// phi(x) / Phi(x) of the standard normal distribution, the derivative of log Phi(x).
struct normal_ratio : floating_unary<normal_ratio> {
  static constexpr const char* name = "normal_ratio";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::normal_ratio(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::normal_ratio(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return -(g * (y * pointwise_value<normal_excess>(x))); }
};

/// x + phi(x) / Phi(x). The two cancel for x far below 0.
struct normal_excess : floating_unary<normal_excess> {
  static constexpr const char* name = "normal_excess";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::normal_excess(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::normal_excess(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return g * (1 - pointwise_value<normal_ratio>(x) * y); }
};

/// e^(x^2) erfc(x). Its derivative 2 x y - 2 / sqrt(pi) is written with the excess, because the two terms cancel for large x.
struct erfcx : floating_unary<erfcx> {
  static constexpr const char* name = "erfcx";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::erfcx(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::erfcx(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return g * (-1.41421356237309504880 * (y * pointwise_value<normal_excess>(x * -1.41421356237309504880))); }
};

/// log Phi(x) of the standard normal distribution.
struct log_normal_cdf : floating_unary<log_normal_cdf> {
  static constexpr const char* name = "log_normal_cdf";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::log_normal_cdf(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::log_normal_cdf(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<normal_ratio>(x); }
};

/// The inverse of erf: y with erf(y) = x. Its derivative is 1 / erf'(y).
struct erfinv : floating_unary<erfinv> {
  static constexpr const char* name = "erfinv";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::erfinv(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::erfinv(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * (0.886226925452758013649 * pointwise_value<exp_of_product>(y, y)); }
};

/// The inverse of the distribution function of the standard normal distribution.
struct normal_icdf : floating_unary<normal_icdf> {
  static constexpr const char* name = "normal_icdf";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::normal_icdf(x); }
  template <class T> static T reference(T x) { return static_cast<T>(math::constant::normal_icdf(static_cast<long double>(x))); }
  template <class V> static constexpr V derivative(int, V g, V, V y) { return g * (2.50662827463100050242 * pointwise_value<exp_of_product>(y, y * 0.5)); }
};

using special_operations = operation_list<lgamma, digamma, trigamma, tetragamma, logaddexp, hypot, logit, log1mexp, normal_ratio, normal_excess, log_normal_cdf, erfinv, normal_icdf, erfcx>;

namespace detail {
template <int Order>
constexpr auto polygamma() {
  static_assert(Order >= 0 && Order <= 2, "tenure: polygamma: the order is 0, 1 or 2: polygamma<1> is the derivative of digamma");
  if constexpr (Order == 1) return element_tag<trigamma>{};
  else if constexpr (Order == 2) return element_tag<tetragamma>{};
  else return element_tag<digamma>{};
}
template <int Order>
using polygamma_operation = typename decltype(polygamma<Order>())::type;
}  // namespace detail

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// log |gamma(x)|, to 4 ulp for x > 0. Integers and bool are converted to float32 first. inf at 0, at the negative integers and at both infinities.
template <operand X> constexpr auto lgamma(const X& x) { return apply<ops::lgamma>(x); }
/// The derivative of lgamma(x). -inf at 0, and NaN at the negative integers.
template <operand X> constexpr auto digamma(const X& x) { return apply<ops::digamma>(x); }
/// The derivative of digamma(x) of an order from 0 to 2. polygamma<1> is inf at 0 and at the negative integers.
template <int Order, operand X> constexpr auto polygamma(const X& x) { return apply<ops::detail::polygamma_operation<Order>>(x); }

/// log(exp(x) + exp(y)), and the root of x * x + y * y, both without overflow. Shapes broadcast; integers and bool are converted to float32 first. The gradient of
/// hypot at (0, 0) is NaN.
template <class X, class Y> requires some_operand<X, Y> constexpr auto logaddexp(const X& x, const Y& y) { return apply<ops::logaddexp>(x, y); }
template <class X, class Y> requires some_operand<X, Y> constexpr auto hypot(const X& x, const Y& y) { return apply<ops::hypot>(x, y); }
/// log(x / (1 - x)), the inverse of sigmoid. NaN beyond [0, 1], and infinite at 0 and 1.
template <operand X> constexpr auto logit(const X& x) { return apply<ops::logit>(x); }
/// log(1 - exp(-|x|)): so of log(1 - e^x) where x is below 0, and of log(1 - e^-x) where it is above.
template <operand X> constexpr auto log1mexp(const X& x) { return apply<ops::log1mexp>(x); }

/// The distribution function of the standard normal distribution, and its logarithm. Both keep their digits far below 0, and the derivatives of the logarithm do too.
/// The derivative of log_normal_cdf at -x is the hazard at x. Integers and bool are converted to float32 first.
template <operand X> constexpr auto normal_cdf(const X& x) { return apply<ops::normal_cdf>(x); }
template <operand X> constexpr auto log_normal_cdf(const X& x) { return apply<ops::log_normal_cdf>(x); }

/// exp(x * x) * erfc(x), to 4 ulp: without underflow for large x, and inf below -26.6 (float32: -9.3). The first derivative keeps its digits for large x; the second one is
/// a difference of terms that are about x * x times as large. Integers and bool are converted to float32 first.
template <operand X> constexpr auto erfcx(const X& x) { return apply<ops::erfcx>(x); }

/// The inverses of erf and of normal_cdf. Infinite at the ends of their domains, -1 and 1, or 0 and 1, as their derivatives are, and NaN beyond. Integers and bool
/// are converted to float32 first.
template <operand X> constexpr auto erfinv(const X& x) { return apply<ops::erfinv>(x); }
template <operand X> constexpr auto normal_icdf(const X& x) { return apply<ops::normal_icdf>(x); }

}  // namespace tenure
