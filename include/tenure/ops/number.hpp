// SPDX-License-Identifier: BSL-1.0
// The pointwise functions of plain numbers, for generic code in which an argument is sometimes a number: square(0.3), where(b, 1.0f, 2.0f).
// Law: the result is a plain number. Functions with values in between (exp, sqrt, ...) take integers as double, as <cmath> does; the others
// keep the type, after the promotions of C++. A program computes by <cmath>; a trace, or another constant, by math/constant.hpp.
#pragma once

#include <concepts>

#include <tenure/math/constant.hpp>
#include <tenure/ops/activation.hpp>
#include <tenure/ops/bessel.hpp>
#include <tenure/ops/incomplete.hpp>
#include <tenure/ops/incomplete_beta.hpp>
#include <tenure/ops/remainder.hpp>
#include <tenure/ops/sinc.hpp>
#include <tenure/ops/special.hpp>
#include <tenure/ops/trigonometric.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class... X>
concept numbers = (scalar<X> && ...);

/// x, as double if it is an integer.
template <class X>
constexpr auto floating_number(X x) {
  if constexpr (number::is_floating<X>) return static_cast<number::lane_t<X>>(x);
  else return static_cast<double>(x);
}
template <class... X>
using floating_type = std::common_type_t<decltype(floating_number(X()))...>;

/// The function of math/constant.hpp that computes Operation in constant evaluation, in place of Operation::reference. nullptr: there is none.
/// Partial specializations, which exist only where they are used: nvcc compiles what a full one points to for the device, and warns of long double.
template <class Operation>
inline constexpr auto known = nullptr;
template <std::same_as<ops::exp> O> inline constexpr auto known<O> = math::constant::exp;
template <std::same_as<ops::exp2> O> inline constexpr auto known<O> = math::constant::exp2;
template <std::same_as<ops::expm1> O> inline constexpr auto known<O> = math::constant::expm1;
template <std::same_as<ops::log> O> inline constexpr auto known<O> = math::constant::log;
template <std::same_as<ops::log1p> O> inline constexpr auto known<O> = math::constant::log1p;
template <std::same_as<ops::log2> O> inline constexpr auto known<O> = math::constant::log2;
template <std::same_as<ops::log10> O> inline constexpr auto known<O> = math::constant::log10;
template <std::same_as<ops::sqrt> O> inline constexpr auto known<O> = math::constant::sqrt;
template <std::same_as<ops::pow> O> inline constexpr auto known<O> = math::constant::pow;
template <std::same_as<ops::xlogy> O> inline constexpr auto known<O> = math::constant::xlogy;
template <std::same_as<ops::sin> O> inline constexpr auto known<O> = math::constant::sin;
template <std::same_as<ops::cos> O> inline constexpr auto known<O> = math::constant::cos;
template <std::same_as<ops::tan> O> inline constexpr auto known<O> = math::constant::tan;
template <std::same_as<ops::asin> O> inline constexpr auto known<O> = math::constant::asin;
template <std::same_as<ops::acos> O> inline constexpr auto known<O> = math::constant::acos;
template <std::same_as<ops::atan> O> inline constexpr auto known<O> = math::constant::atan;
template <std::same_as<ops::atan2> O> inline constexpr auto known<O> = math::constant::atan2;
template <std::same_as<ops::sinh> O> inline constexpr auto known<O> = math::constant::sinh;
template <std::same_as<ops::cosh> O> inline constexpr auto known<O> = math::constant::cosh;
template <std::same_as<ops::asinh> O> inline constexpr auto known<O> = math::constant::asinh;
template <std::same_as<ops::acosh> O> inline constexpr auto known<O> = math::constant::acosh;
template <std::same_as<ops::atanh> O> inline constexpr auto known<O> = math::constant::atanh;
template <std::same_as<ops::tanh> O> inline constexpr auto known<O> = math::constant::tanh;
template <std::same_as<ops::erf> O> inline constexpr auto known<O> = math::constant::erf;
template <std::same_as<ops::erfc> O> inline constexpr auto known<O> = math::constant::erfc;
template <std::same_as<ops::lgamma> O> inline constexpr auto known<O> = math::constant::lgamma;
template <std::same_as<ops::digamma> O> inline constexpr auto known<O> = math::constant::digamma;
template <std::same_as<ops::logaddexp> O> inline constexpr auto known<O> = math::constant::logaddexp;
template <std::same_as<ops::hypot> O> inline constexpr auto known<O> = math::constant::hypot;
template <std::same_as<ops::logit> O> inline constexpr auto known<O> = math::constant::logit;
template <std::same_as<ops::log1mexp> O> inline constexpr auto known<O> = math::constant::log1mexp;
template <std::same_as<ops::normal_cdf> O> inline constexpr auto known<O> = math::constant::normal_cdf;
template <std::same_as<ops::log_normal_cdf> O> inline constexpr auto known<O> = math::constant::log_normal_cdf;
template <std::same_as<ops::erfcx> O> inline constexpr auto known<O> = math::constant::erfcx;
template <std::same_as<ops::sinc_slope<0>> O> inline constexpr auto known<O> = math::constant::sinc;
template <std::same_as<ops::i0e> O> inline constexpr auto known<O> = math::constant::i0e;
template <std::same_as<ops::i1e> O> inline constexpr auto known<O> = math::constant::i1e;
template <std::same_as<ops::gammainc> O> inline constexpr auto known<O> = math::constant::gammainc;
template <std::same_as<ops::betainc> O> inline constexpr auto known<O> = math::constant::betainc;
template <std::same_as<ops::gammaincc> O> inline constexpr auto known<O> = math::constant::gammaincc;
template <std::same_as<ops::erfinv> O> inline constexpr auto known<O> = math::constant::erfinv;
template <std::same_as<ops::normal_icdf> O> inline constexpr auto known<O> = math::constant::normal_icdf;
template <std::same_as<ops::floor> O> inline constexpr auto known<O> = math::constant::floor;
template <std::same_as<ops::round> O> inline constexpr auto known<O> = math::constant::round;
template <std::same_as<ops::ceil> O> inline constexpr auto known<O> = math::constant::ceil;
template <std::same_as<ops::trunc> O> inline constexpr auto known<O> = math::constant::trunc;
template <std::same_as<ops::fmod> O> inline constexpr auto known<O> = math::constant::fmod;
template <std::same_as<ops::remainder> O> inline constexpr auto known<O> = math::constant::remainder;
template <std::same_as<ops::floor_divide> O> inline constexpr auto known<O> = math::constant::floor_divide;

/// known(x...) in constant evaluation, else Operation::reference(x...).
template <class Operation, class Known, class... X>
constexpr auto evaluated_by(Known known, X... x) {
  using T = floating_type<X...>;
  if (!std::is_constant_evaluated()) return Operation::reference(static_cast<T>(x)...);
  const long double r = known(static_cast<long double>(x)...);
  constexpr long double most = static_cast<long double>(std::numeric_limits<T>::max());
  return r > most ? std::numeric_limits<T>::infinity() : r < -most ? -std::numeric_limits<T>::infinity() : static_cast<T>(r);
}

template <class Operation, class... X>
constexpr auto evaluated(X... x) { return evaluated_by<Operation>(known<Operation>, x...); }

/// Operation::reference() in the common type of the numbers, where it is exact.
template <class Operation, class... X>
constexpr auto exact(X... x) { return Operation::reference(static_cast<std::common_type_t<X...>>(x)...); }

/// exact() for integers, whose result is an integer. For other numbers evaluated().
template <class Operation, class... X>
constexpr auto exact_or_evaluated(X... x) {
  if constexpr (std::is_integral_v<std::common_type_t<X...>>) return exact<Operation>(x...);
  else return evaluated<Operation>(x...);
}

}  // namespace detail

template <scalar X> constexpr auto exp(X x) { return detail::evaluated<ops::exp>(x); }
template <scalar X> constexpr auto exp2(X x) { return detail::evaluated<ops::exp2>(x); }
template <scalar X> constexpr auto expm1(X x) { return detail::evaluated<ops::expm1>(x); }
template <scalar X> constexpr auto log(X x) { return detail::evaluated<ops::log>(x); }
template <scalar X> constexpr auto log1p(X x) { return detail::evaluated<ops::log1p>(x); }
template <scalar X> constexpr auto log2(X x) { return detail::evaluated<ops::log2>(x); }
template <scalar X> constexpr auto log10(X x) { return detail::evaluated<ops::log10>(x); }
template <scalar X> constexpr auto sqrt(X x) { return detail::evaluated<ops::sqrt>(x); }
template <scalar X> constexpr auto rsqrt(X x) { return 1 / sqrt(detail::floating_number(x)); }
template <scalar X, scalar Y> constexpr auto pow(X x, Y y) { return detail::evaluated<ops::pow>(x, y); }
template <scalar X, scalar Y> constexpr auto xlogy(X x, Y y) { return detail::evaluated<ops::xlogy>(x, y); }
template <scalar X> constexpr auto sin(X x) { return detail::evaluated<ops::sin>(x); }
template <scalar X> constexpr auto cos(X x) { return detail::evaluated<ops::cos>(x); }
template <scalar X> constexpr auto tan(X x) { return detail::evaluated<ops::tan>(x); }
template <scalar X> constexpr auto asin(X x) { return detail::evaluated<ops::asin>(x); }
template <scalar X> constexpr auto acos(X x) { return detail::evaluated<ops::acos>(x); }
template <scalar X> constexpr auto atan(X x) { return detail::evaluated<ops::atan>(x); }
template <scalar Y, scalar X> constexpr auto atan2(Y y, X x) { return detail::evaluated<ops::atan2>(y, x); }
template <scalar X> constexpr auto sinh(X x) { return detail::evaluated<ops::sinh>(x); }
template <scalar X> constexpr auto cosh(X x) { return detail::evaluated<ops::cosh>(x); }
template <scalar X> constexpr auto asinh(X x) { return detail::evaluated<ops::asinh>(x); }
template <scalar X> constexpr auto acosh(X x) { return detail::evaluated<ops::acosh>(x); }
template <scalar X> constexpr auto atanh(X x) { return detail::evaluated<ops::atanh>(x); }
template <scalar X> constexpr auto tanh(X x) { return detail::evaluated<ops::tanh>(x); }
template <scalar X> constexpr auto erf(X x) { return detail::evaluated<ops::erf>(x); }
template <scalar X> constexpr auto erfc(X x) { return detail::evaluated<ops::erfc>(x); }
template <scalar X> constexpr auto lgamma(X x) { return detail::evaluated<ops::lgamma>(x); }
template <scalar X> constexpr auto digamma(X x) { return detail::evaluated<ops::digamma>(x); }
template <scalar X, scalar Y> constexpr auto logaddexp(X x, Y y) { return detail::evaluated<ops::logaddexp>(x, y); }
template <scalar X, scalar Y> constexpr auto hypot(X x, Y y) { return detail::evaluated<ops::hypot>(x, y); }
template <scalar X> constexpr auto logit(X x) { return detail::evaluated<ops::logit>(x); }
template <scalar X> constexpr auto log1mexp(X x) { return detail::evaluated<ops::log1mexp>(x); }
template <scalar X> constexpr auto normal_cdf(X x) { return detail::evaluated<ops::normal_cdf>(x); }
template <scalar X> constexpr auto log_normal_cdf(X x) { return detail::evaluated<ops::log_normal_cdf>(x); }
template <scalar X> constexpr auto erfcx(X x) { return detail::evaluated<ops::erfcx>(x); }
template <scalar X> constexpr auto sinc(X x) { return detail::evaluated<ops::sinc_slope<0>>(x); }
template <scalar X> constexpr auto i0e(X x) { return detail::evaluated<ops::i0e>(x); }
template <scalar X> constexpr auto i1e(X x) { return detail::evaluated<ops::i1e>(x); }
template <scalar A, scalar X> constexpr auto gammainc(A a, X x) { return detail::evaluated<ops::gammainc>(a, x); }
template <scalar A, scalar B, scalar X> constexpr auto betainc(A a, B b, X x) { return detail::evaluated<ops::betainc>(a, b, x); }
template <scalar A, scalar X> constexpr auto gammaincc(A a, X x) { return detail::evaluated<ops::gammaincc>(a, x); }
template <scalar X> constexpr auto erfinv(X x) { return detail::evaluated<ops::erfinv>(x); }
template <scalar X> constexpr auto normal_icdf(X x) { return detail::evaluated<ops::normal_icdf>(x); }
template <int Order, scalar X>
constexpr auto polygamma(X x) { return detail::evaluated_by<ops::detail::polygamma_operation<Order>>([](math::constant::real r) { return math::constant::polygamma(Order, r); }, x); }

template <scalar X> constexpr auto square(X x) { return x * x; }
template <scalar X> constexpr auto reciprocal(X x) { return 1 / detail::floating_number(x); }
template <scalar X> constexpr auto abs(X x) { return x < 0 ? -x : x + X(0); }  // -0.0 + 0.0 is 0.0
template <scalar X> constexpr auto sign(X x) { return x > 0 ? X(1) + X(0) : x < 0 ? -(X(1) + X(0)) : x * X(0); }
template <scalar X> constexpr auto floor(X x) { return detail::exact_or_evaluated<ops::floor>(x); }
template <scalar X> constexpr auto round(X x) { return detail::exact_or_evaluated<ops::round>(x); }
template <scalar X> constexpr auto ceil(X x) { return detail::exact_or_evaluated<ops::ceil>(x); }
template <scalar X> constexpr auto trunc(X x) { return detail::exact_or_evaluated<ops::trunc>(x); }
template <scalar X, scalar Y> constexpr auto fmod(X x, Y y) { return detail::exact_or_evaluated<ops::fmod>(x, y); }
template <scalar X, scalar Y> constexpr auto remainder(X x, Y y) { return detail::exact_or_evaluated<ops::remainder>(x, y); }
template <scalar X, scalar Y> constexpr auto floor_divide(X x, Y y) { return detail::exact_or_evaluated<ops::floor_divide>(x, y); }
template <scalar X, scalar Y> constexpr auto maximum(X x, Y y) { return detail::exact<ops::maximum>(x, y); }
template <scalar X, scalar Y> constexpr auto minimum(X x, Y y) { return detail::exact<ops::minimum>(x, y); }
template <scalar X, scalar Y> constexpr auto fmax(X x, Y y) { return detail::exact<ops::fmax>(x, y); }
template <scalar X, scalar Y> constexpr auto fmin(X x, Y y) { return detail::exact<ops::fmin>(x, y); }
template <scalar X, scalar L, scalar H> constexpr auto clamp(X x, L lo, H hi) { return minimum(maximum(x, lo), hi); }
template <scalar X, scalar L> constexpr auto clamp_min(X x, L lo) { return maximum(x, lo); }
template <scalar X, scalar H> constexpr auto clamp_max(X x, H hi) { return minimum(x, hi); }
template <scalar X, scalar Y, scalar W>
constexpr auto lerp(X x, Y y, W w) {
  if constexpr (std::is_floating_point_v<W>) return w < W(0.5) ? x + w * (y - x) : y + (w - 1) * (y - x);
  else return x + w * (y - x);
}
template <scalar X, scalar Y> constexpr auto where(bool c, X x, Y y) { return c ? static_cast<std::common_type_t<X, Y>>(x) : static_cast<std::common_type_t<X, Y>>(y); }

template <scalar X> constexpr auto relu(X x) { return x < 0 ? X(0) : x + X(0); }  // not x * 0, which is NaN for -inf
constexpr auto sigmoid(scalar auto x) {
  const auto v = detail::floating_number(x), e = exp(v < 0 ? v : -v);
  return v < 0 ? e / (1 + e) : 1 / (1 + e);
}
constexpr auto softplus(scalar auto x) {
  const auto v = detail::floating_number(x);
  return relu(v) + log1p(exp(v < 0 ? v : -v));
}
template <scalar X> constexpr auto log_sigmoid(X x) { return -(relu(-detail::floating_number(x)) + log1p(exp(-abs(detail::floating_number(x))))); }
template <scalar X> constexpr auto silu(X x) { return x * sigmoid(x); }
template <scalar X> constexpr auto mish(X x) { return x * tanh(softplus(x)); }
constexpr auto softsign(scalar auto x) {
  const auto v = detail::floating_number(x);
  return v > 1 ? 1 - 1 / (1 + v) : v < -1 ? 1 / (1 - v) - 1 : v / (1 + abs(v));
}
template <scalar X> constexpr auto leaky_relu(X x, double slope = 0.01) { return static_cast<detail::floating_type<X>>(x > 0 ? static_cast<double>(x) : static_cast<double>(x) * slope); }
template <scalar X> constexpr auto elu(X x, double alpha = 1.0) { return static_cast<detail::floating_type<X>>(x > 0 ? static_cast<double>(x) : alpha * expm1(static_cast<double>(x))); }
template <scalar X> constexpr auto selu(X x) { return static_cast<detail::floating_type<X>>(1.0507009873554804934 * elu(static_cast<double>(x), 1.6732632423543772848)); }
template <scalar X> constexpr auto hardtanh(X x, double lo = -1, double hi = 1) { return static_cast<detail::floating_type<X>>(clamp(static_cast<double>(x), lo, hi)); }
template <scalar X> constexpr auto relu6(X x) { return hardtanh(x, 0, 6); }
template <scalar X> constexpr auto gelu(X x) { return static_cast<detail::floating_type<X>>(0.5 * static_cast<double>(x) * erfc(static_cast<double>(x) * -0.70710678118654752440)); }
template <scalar X>
constexpr auto gelu_tanh(X x) {
  const auto v = static_cast<double>(x);
  const auto square = abs(v) < 30 ? v * v : 900;
  return static_cast<detail::floating_type<X>>(v * sigmoid(v * (1.59576912160573071176 + 0.071354816272600256766 * square)));
}

namespace detail {
template <std::same_as<ops::rsqrt> O> inline constexpr auto known<O> = [](math::constant::real x) { return rsqrt(x); };
template <std::same_as<ops::sigmoid> O> inline constexpr auto known<O> = [](math::constant::real x) { return sigmoid(x); };
template <std::same_as<ops::softplus> O> inline constexpr auto known<O> = [](math::constant::real x) { return softplus(x); };
}  // namespace detail

/// A plain number has one element, and nothing flows through it.
template <scalar X> constexpr auto sum(X x) { return x + X(0); }
template <scalar X> constexpr auto mean(X x) { return detail::floating_number(x); }
template <scalar X> constexpr auto amax(X x) { return x; }
template <scalar X> constexpr auto amin(X x) { return x; }
template <int P = 2, scalar X> constexpr auto norm(X x) { return abs(detail::floating_number(x)); }
template <scalar X> constexpr auto stop_gradient(X x) { return x; }
template <element To, scalar X> constexpr auto cast(X x) { return number::convert<To>(x); }
/// A vector of plain numbers, a row of a matrix whose other rows are traced, say: stack(stack(1.0, 0.0), stack(a, b)). It is a tensor, and in a trace a constant.
template <int A = 0, scalar X, scalar... Rest>
constexpr auto stack(X x, Rest... rest) {
  static_assert(A == 0 || A == -1, "tenure: stack: the axis lies outside the result's rank");
  using number_type = std::common_type_t<X, Rest...>;
  return tensor<number_type, shape<static_cast<std::int64_t>(1 + sizeof...(Rest))>>{static_cast<number_type>(x), static_cast<number_type>(rest)...};
}

}  // namespace tenure
