// SPDX-License-Identifier: BSL-1.0
// Activations. The pointwise operations state their own derivatives. The activations behind them are composed of other operations.
#pragma once

#include <cmath>

#include <tenure/math/error_function.hpp>
#include <tenure/math/hyperbolic.hpp>
#include <tenure/math/normal.hpp>
#include <tenure/math/slopes.hpp>
#include <tenure/ops/exponential.hpp>

namespace TENURE_NAMESPACE::ops {

struct tanh;

/// The derivative of sigmoid. s (1 - s) would be 0 where sigmoid rounds to 1.
struct sigmoid_slope : floating_unary<sigmoid_slope> {
  static constexpr const char* name = "sigmoid_slope";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sigmoid_slope(x); }
  template <class T> static T reference(T x) {
    const T e = std::exp(-std::fabs(x));
    return e / (T(1) + e) / (T(1) + e);
  }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return -(g * (y * pointwise_value<tanh>(x * 0.5))); }
};

/// 1 / cosh(x)^2, the derivative of tanh. 1 - tanh(x)^2 would be 0 where tanh rounds to 1.
struct tanh_slope : floating_unary<tanh_slope> {
  static constexpr const char* name = "tanh_slope";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::tanh_slope(x); }
  template <class T> static T reference(T x) { return T(4) * sigmoid_slope::reference(T(2) * x); }
  template <class V> static constexpr V derivative(int, V g, V x, V y) { return g * (y * pointwise_value<tanh>(x)) * -2.0; }
};

/// e^(xy). The product has the digits that the exponential needs: e^(-x^2) of a rounded x^2 is off by hundreds of ulp.
struct exp_of_product : pointwise<exp_of_product, 2, typing::floating> {
  static constexpr const char* name = "exp_of_product";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x, P y) { return math::exp_of_product(x, y); }
  template <class T> static T reference(T x, T y) { return static_cast<T>(std::exp(static_cast<long double>(x) * static_cast<long double>(y))); }
  template <class V> static constexpr V derivative(int i, V g, V x, V y, V r) { return g * (r * (i == 0 ? y : x)); }
};

/// The distribution function of the standard normal distribution. The relative error is small even where the result is tiny.
struct normal_cdf : floating_unary<normal_cdf> {
  static constexpr const char* name = "normal_cdf";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::normal_cdf(x); }
  template <class T> static T reference(T x) { return static_cast<T>(0.5L * std::erfc(static_cast<long double>(x) * -0.707106781186547524400844362104849039L)); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * (0.398942280401432677940 * pointwise_value<exp_of_product>(x, x * -0.5)); }
};

struct tanh : floating_unary<tanh> {
  static constexpr const char* name = "tanh";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::tanh(x); }
  template <class T> static T reference(T x) { return std::tanh(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<tanh_slope>(x); }
};

struct sigmoid : floating_unary<sigmoid> {
  static constexpr const char* name = "sigmoid";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::sigmoid(x); }
  template <class T> static T reference(T x) { return x < T(0) ? std::exp(x) / (T(1) + std::exp(x)) : T(1) / (T(1) + std::exp(-x)); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<sigmoid_slope>(x); }
};

/// log(1 + exp(x)), computed without overflow.
struct softplus : floating_unary<softplus> {
  static constexpr const char* name = "softplus";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::softplus(x); }
  template <class T> static T reference(T x) { return x != x ? x : (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::fabs(x))); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * pointwise_value<sigmoid>(x); }
};

struct erf : floating_unary<erf> {
  static constexpr const char* name = "erf";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::erf(x); }
  template <class T> static T reference(T x) { return std::erf(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * (1.12837916709551257390 * pointwise_value<exp_of_product>(x, -x)); }
};

/// 1 - erf(x). The relative error is small even where the result is tiny.
struct erfc : floating_unary<erfc> {
  static constexpr const char* name = "erfc";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::erfc(x); }
  template <class T> static T reference(T x) { return std::erfc(x); }
  template <class V> static constexpr V derivative(int, V g, V x, V) { return g * (-1.12837916709551257390 * pointwise_value<exp_of_product>(x, -x)); }
};

/// max(x, 0). relu(NaN) is NaN. The derivative is 0 at 0 and 1 at NaN, as in PyTorch.
struct relu : pointwise<relu, 1, typing::arithmetic> {
  static constexpr const char* name = "relu";
  template <class P> static TENURE_KERNEL_LAYER P evaluate(P x) { return math::max(x, math::set1<P>(0)); }
  template <class T> static constexpr T reference(T x) { return x != x ? x : x > T(0) ? x : T(0); }
  template <class V> static constexpr V derivative(int, V g, V, V y) {
    return pointwise_value<where>(pointwise_value<less_equal>(y, y.like(0)), g.like(0), g);
  }
};

using activation_operations = operation_list<tanh, sigmoid, softplus, erf, relu, erfc, sigmoid_slope, tanh_slope, exp_of_product, normal_cdf, multiply_add>;

namespace detail {
/// The constant c as a traced scalar with the element type of x, which must be floating.
template <class X>
constexpr auto number(const X& x, double c) {
  static_assert(is_floating(dtype_v<typename X::element_type>),
                "tenure: activation, loss, norm: integers and bool have none; convert to a floating type first");
  return traced<typename X::element_type, shape<>>{x.graph, x.graph->constant(dtype_v<typename X::element_type>, x.graph->intern({}), c)};
}
}  // namespace detail

/// softplus(x) of a floating x.
struct exact_softplus : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    static_assert(is_floating(dtype_v<typename X::element_type>),
                  "tenure: activation, loss, norm: integers and bool have none; convert to a floating type first");
    return softplus::trace(x);
  }
};

/// softplus(beta * x) / beta. With a threshold, it is x where beta * x > threshold.
struct scaled_softplus : rounds_once {
  static constexpr auto trace(const auto& x, const auto& beta) { return div::trace(exact_softplus::trace(mul::trace(x, beta)), beta); }
  static constexpr auto trace(const auto& x, const auto& beta, const auto& threshold) {
    const auto scaled = mul::trace(x, beta);
    return where::trace(greater::trace(scaled, threshold), x, div::trace(softplus::trace(scaled), beta));
  }
};

/// x where x > 0, else slope * x.
struct leaky_relu : rounds_once {
  static constexpr auto trace(const auto& x, const auto& slope) {
    return where::trace(greater::trace(x, detail::number(x, 0)), x, mul::trace(x, slope));
  }
};

/// x where x > 0, else alpha * (exp(x) - 1). The inner `where` gives expm1 a 0 for positive x: exp would overflow there, and the
/// gradient would be 0 * inf, which is NaN.
struct elu : rounds_once {
  static constexpr auto trace(const auto& x, const auto& alpha) {
    const auto zero = detail::number(x, 0);
    const auto positive = greater::trace(x, zero);
    return where::trace(positive, x, mul::trace(alpha, expm1::trace(where::trace(positive, zero, x))));
  }
};

/// A scaled elu. Its constants keep activations at mean 0 and variance 1 (Klambauer et al., 2017).
struct selu : rounds_once {
  static constexpr auto trace(const auto& x) {
    return mul::trace(detail::number(x, 1.0507009873554804934), elu::trace(x, detail::number(x, 1.6732632423543772848)));
  }
};

/// lo where x <= lo, hi where x >= hi, else x. No gradient flows to x at a bound (in clamp it does), nor where x is NaN.
struct hardtanh {
  static constexpr auto trace(const auto& x, const auto& lo, const auto& hi) {
    const auto bound = minimum::trace(maximum::trace(detail::without_gradient(x), lo), hi);
    return where::trace(logical_and::trace(greater::trace(x, lo), less::trace(x, hi)), x, bound);
  }
};

/// x / (1 + |x|). Where |x| > 1 it is sign(x) (1 - 1 / (1 + |x|)), because there the derivative of the first form cancels.
struct softsign : rounds_once {
  static constexpr auto trace(const auto& x) {
    const auto one = detail::number(x, 1), zero = detail::number(x, -0.0);  // so that -0 stays -0
    const auto size = abs::trace(x);
    const auto far = greater::trace(size, one);
    const auto direction = sign::trace(x);
    return add::trace(where::trace(far, direction, zero), div::trace(where::trace(far, neg::trace(direction), x), add::trace(one, size)));
  }
};

/// x * tanh(softplus(x)).
struct mish : rounds_once {
  static constexpr auto trace(const auto& x) { return mul::trace(x, tanh::trace(softplus::trace(x))); }
};

struct silu : rounds_once {
  static constexpr auto trace(const auto& x) { return mul::trace(x, sigmoid::trace(x)); }
};

/// x * Phi(x). Phi is the distribution function of the standard normal distribution.
struct gelu : rounds_once {
  static constexpr auto trace(const auto& x) {
    detail::number(x, 1);  // refuses what is not floating
    return mul::trace(x, normal_cdf::trace(x));
  }
};

/// The tanh approximation of gelu (Hendrycks and Gimpel, 2016), x * (1 + tanh(u)) / 2. It is written as x * sigmoid(2u), because 1 + tanh(u) loses
/// its digits where tanh is near -1. x^2 is limited to 900: from there on the sigmoid is 0 or 1, and an overflow of x^2 does not matter.
struct gelu_tanh : rounds_once {
  static constexpr auto trace(const auto& x) {
    const auto square = mul::trace(x, x);
    const auto most = detail::number(x, 900);
    const auto bounded = where::trace(less::trace(square, most), square, most);
    const auto factor = add::trace(detail::number(x, 1.59576912160573071176), mul::trace(detail::number(x, 0.071354816272600256766), bounded));
    return mul::trace(x, sigmoid::trace(mul::trace(x, factor)));
  }
};

struct log_sigmoid : rounds_once {
  static constexpr auto trace(const auto& x) { return neg::trace(softplus::trace(neg::trace(x))); }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The hyperbolic tangent, and sigmoid(x) = 1 / (1 + exp(-x)). Pointwise. Integers and bool are converted to float32 first. NaN gives NaN.
template <operand X> constexpr auto tanh(const X& x) { return apply<ops::tanh>(x); }
template <operand X> constexpr auto sigmoid(const X& x) { return apply<ops::sigmoid>(x); }
/// log(1 + exp(x)), computed without overflow and exact to 2 ulp for every x. PyTorch gives x above 20. x must be floating.
template <operand X> constexpr auto softplus(const X& x) { return apply<ops::exact_softplus>(x); }
/// softplus(beta * x) / beta. With a threshold it is x where beta * x > threshold, and its derivative is 1 there. beta must not be 0.
template <operand X> constexpr auto softplus(const X& x, double beta) { return apply<ops::scaled_softplus>(x, beta); }
template <operand X> constexpr auto softplus(const X& x, double beta, double threshold) { return apply<ops::scaled_softplus>(x, beta, threshold); }
/// The error function. Integers and bool are converted to float32 first. NaN gives NaN.
template <operand X> constexpr auto erf(const X& x) { return apply<ops::erf>(x); }
/// 1 - erf(x), computed without cancellation. Element types: as erf.
template <operand X> constexpr auto erfc(const X& x) { return apply<ops::erfc>(x); }
/// max(x, 0), for integers too. relu(NaN) is NaN. The derivative is 0 at 0 and 1 at NaN.
template <operand X> constexpr auto relu(const X& x) { return apply<ops::relu>(x); }
/// Pointwise activations of floating operands; integers and bool do not compile. leaky_relu is x where x > 0, else slope * x. elu is x where x > 0,
/// else alpha * (exp(x) - 1). selu is an elu with the constants of Klambauer et al. (2017). The derivative at 0 is the derivative from the left.
template <operand X> constexpr auto leaky_relu(const X& x, double slope = 0.01) { return apply<ops::leaky_relu>(x, slope); }
template <operand X> constexpr auto elu(const X& x, double alpha = 1.0) { return apply<ops::elu>(x, alpha); }
template <operand X> constexpr auto selu(const X& x) { return apply<ops::selu>(x); }
/// x limited to lo..hi, where lo <= hi; relu6 is x limited to 0..6. The derivative is 1 between the bounds and 0 at both bounds (clamp: 1).
template <operand X> constexpr auto hardtanh(const X& x, double lo = -1, double hi = 1) { return apply<ops::hardtanh>(x, lo, hi); }
template <operand X> constexpr auto relu6(const X& x) { return hardtanh(x, 0, 6); }
/// Pointwise, of floating operands. softsign is x / (1 + |x|), mish is x * tanh(softplus(x)), silu is x * sigmoid(x). gelu uses erf,
/// gelu_tanh approximates it with tanh. log_sigmoid is -log(1 + exp(-x)), computed without overflow.
template <operand X> constexpr auto softsign(const X& x) { return apply<ops::softsign>(x); }
template <operand X> constexpr auto mish(const X& x) { return apply<ops::mish>(x); }
template <operand X> constexpr auto silu(const X& x) { return apply<ops::silu>(x); }
template <operand X> constexpr auto gelu(const X& x) { return apply<ops::gelu>(x); }
template <operand X> constexpr auto gelu_tanh(const X& x) { return apply<ops::gelu_tanh>(x); }
template <operand X> constexpr auto log_sigmoid(const X& x) { return apply<ops::log_sigmoid>(x); }

}  // namespace tenure
