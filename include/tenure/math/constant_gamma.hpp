// SPDX-License-Identifier: BSL-1.0
// lgamma and its derivatives, and other special functions, of one number in long double: for constant evaluation, for plain numbers, and as the reference of the packets. Arguments below
// 20 are moved up by the recurrence; then Stirling's series. Near 1 and 2 lgamma is a series in zeta(k) - 1.
// Law: for x > 0 lgamma, rounded to double, is within 1 ulp. The error of digamma is at most 1e-17 times the larger of |digamma(x)| and 1. Negative
// arguments have this error in the unit of the larger of |result| and |lgamma(x)|.
// Cost: some hundred steps of the compiler for each call.
#pragma once

#include <tenure/math/constant.hpp>

namespace TENURE_NAMESPACE::math::constant {

/// lgamma(2 + z) for |z| <= 1/2.
constexpr real lgamma_near_2(real z) {
  constexpr real zeta_less_1[] = {
      6.449340668482264364724e-1L, 2.020569031595942853997e-1L, 8.2323233711138191516e-2L, 3.692775514336992633137e-2L, 1.734306198444913971452e-2L,
      8.349277381922826839798e-3L, 4.077356197944339378685e-3L, 2.008392826082214417853e-3L, 9.94575127818085337146e-4L, 4.941886041194645587023e-4L,
      2.46086553308048298638e-4L, 1.227133475784891467518e-4L, 6.124813505870482925855e-5L, 3.058823630702049355173e-5L, 1.528225940865187173257e-5L,
      7.6371976378997622736e-6L, 3.817293264999839856462e-6L, 1.908212716553938925657e-6L, 9.53962033872796113152e-7L, 4.769329867878064631167e-7L,
      2.384505027277329900036e-7L, 1.192199259653110730678e-7L, 5.960818905125947961244e-8L, 2.980350351465228018606e-8L, 1.490155482836504123466e-8L,
      7.450711789835429491981e-9L, 3.725334024788457054819e-9L, 1.862659723513049006404e-9L, 9.313274324196681828718e-10L,
      4.656629065033784072989e-10L, 2.328311833676505492001e-10L, 1.164155017270051977593e-10L};
  real sum = 0;
  for (int k = 33; k >= 2; --k) sum = sum * -z + zeta_less_1[k - 2] / k;
  return z * (0.422784335098467139393487909917597569L + z * sum);
}

/// log |gamma(x)|.
constexpr real lgamma(real x) {
  if (x != x) return x;
  if (abs(x) == infinity || (x <= 0 && floor(x) == x)) return infinity;
  if (x < 0) {
    const real r = abs(x - round(x));
    return log(2 * half_pi) - log(-x) - log(sin(2 * half_pi * r)) - lgamma(-x);
  }
  if (x >= 0.5L && x < 1.5L) return lgamma_near_2(x - 1) - log1p(x - 1);
  if (x >= 1.5L && x <= 2.5L) return lgamma_near_2(x - 2);
  real product = 1;
  for (; x < 20; ++x) product *= x;
  // B(2k) / (2k (2k - 1))
  constexpr real terms[] = {1 / 12.0L, -1 / 360.0L, 1 / 1260.0L, -1 / 1680.0L, 1 / 1188.0L, -691 / 360360.0L, 1 / 156.0L, -3617 / 122400.0L};
  const real u = 1 / x / x;
  real sum = 0;
  for (int k = 7; k >= 0; --k) sum = sum * u + terms[k];
  if (x > std::numeric_limits<real>::max() / 12000) return infinity;
  return (x - 0.5L) * (log(x) - 1) + (0.418938533204672741780329736405617640L + sum / x) - log(product);
}

/// The derivative of digamma of this order: 0, 1 or 2.
constexpr real polygamma(int order, real x) {
  if (x != x || x == -infinity) return nan;
  if (x == infinity) return order == 0 ? infinity : order == 1 ? 0 : -0.0L;
  if (x <= 0 && floor(x) == x) return order == 1 ? infinity : x != 0 ? nan : is_negative(x) ? infinity : -infinity;
  if (x < 0) {
    const real angle = 2 * half_pi * (x - round(x)), s = 2 * half_pi / sin(angle), c = s * cos(angle), other = polygamma(order, 1 - x);
    return order == 0 ? other - c : order == 1 ? s * s - other : other - 2 * c * s * s;
  }
  real below = 0;
  for (; x < 20; ++x) below += order == 0 ? 1 / x : order == 1 ? 1 / x / x : 1 / x / x / x;
  // B(2k)
  constexpr real terms[] = {1 / 6.0L, -1 / 30.0L, 1 / 42.0L, -1 / 30.0L, 5 / 66.0L, -691 / 2730.0L, 7 / 6.0L, -3617 / 510.0L};
  const real inverse = 1 / x, u = inverse * inverse;
  real sum = 0;
  for (int k = 8; k > 0; --k) sum = (sum + terms[k - 1] * (order == 0 ? 1 / (2.0L * k) : order == 1 ? 1 : 2 * k + 1)) * u;
  if (order == 0) return log(x) - inverse / 2 - sum - below;
  if (order == 1) return inverse + u / 2 + sum * inverse + below;
  return -(u + u * inverse + sum * u + 2 * below);
}
constexpr real digamma(real x) { return polygamma(0, x); }
constexpr real trigamma(real x) { return polygamma(1, x); }
constexpr real tetragamma(real x) { return polygamma(2, x); }

constexpr real logaddexp(real x, real y) {
  if (x != x || y != y) return nan;
  return x == y ? (abs(x) == infinity ? x : x + ln2) : x > y ? (x == infinity || y == -infinity ? x : x + log1p(exp(y - x))) : logaddexp(y, x);
}
constexpr real hypot(real x, real y) {
  const real a = abs(x), b = abs(y), most = a > b ? a : b, least = a > b ? b : a;
  if (a == infinity || b == infinity) return infinity;
  return x != x || y != y ? nan : most == 0 ? 0 : most * sqrt(1 + least / most * (least / most));
}
constexpr real logit(real x) { return !(x >= 0 && x <= 1) ? nan : x == 0 ? -infinity : x == 1 ? infinity : x > 0.25L && x < 0.75L ? 2 * atanh(2 * x - 1) : log(x / (1 - x)); }
constexpr real log1mexp(real x) {
  const real a = abs(x);
  return a != a ? a : a == 0 ? -infinity : a < ln2 ? log(-expm1(-a)) : log1p(-exp(-a));
}

constexpr real normal_density(real x) { return abs(x) > 150 ? 0 : 0.398942280401432677939946059934381868L * exp(-x * x / 2); }
constexpr real normal_cdf(real x) { return x != x ? x : erfc(x * -0.707106781186547524400844362104849039L) / 2; }
/// phi(a) / Phi(-a) - a. From 2 on it is Laplace's continued fraction.
constexpr real normal_excess_of(real a) {
  if (a < 2) return normal_density(a) / normal_cdf(-a) - a;
  real rest = 0;
  for (int n = 120; n > 0; --n) rest = n / (a + rest);
  return rest;
}
constexpr real normal_ratio(real x) { return x != x ? x : x < 0 ? (x == -infinity ? infinity : normal_excess_of(-x) - x) : normal_density(x) / normal_cdf(x); }
constexpr real normal_excess(real x) { return x != x ? x : x < 0 ? (x == -infinity ? 0 : normal_excess_of(-x)) : x + normal_ratio(x); }
constexpr real log_normal_cdf(real x) {
  if (x != x) return x;
  if (x >= 0) return log1p(-normal_cdf(-x));
  const bool overflows = -x > std::numeric_limits<real>::max() / -x;
  return overflows ? -infinity : -x * x / 2 - log(2.506628274631000502415765284811045253L * normal_ratio(x));
}
constexpr real erfcx(real x) {
  if (x != x || x == infinity) return x != x ? x : 0;
  const real a = abs(x), tail = 0.564189583547756286948079451560772586L / (a + 0.707106781186547524400844362104849039L * normal_excess_of(1.414213562373095048801688724209698079L * a));
  return x >= 0 ? tail : x < -106 ? infinity : 2 * exp(x * x) - tail;
}

/// sin(pi x) / (pi x).
constexpr real sinc(real x) {
  if (x != x || abs(x) == infinity) return nan;
  if (x == 0) return 1;
  const real n = round(x), s = sin(2 * half_pi * (x - n)) / (2 * half_pi * x);
  return n / 2 == floor(n / 2) ? s : -s;
}
/// The derivative of sinc of order k.
constexpr real sinc_slope(int k, real x) {
  if (x != x || abs(x) == infinity) return nan;
  if (k == 0) return sinc(x);
  const real pi = 2 * half_pi;
  if (abs(x) < 1) {
    const int first = (k + 1) / 2;
    real term = first % 2 == 0 ? 1 : -1, sum = 0;
    for (int i = 1; i <= 2 * first; ++i) term *= i <= 2 * first - k ? pi / i : pi;
    if (k % 2 == 1) term *= x;
    for (int i = first; i < first + 24; ++i) {  // (-1)^i pi^2i x^(2i - k) / ((2i - k)! (2i + 1))
      sum += term / (2 * i + 1);
      term *= -pi * pi * x * x / ((2 * i + 2 - k) * (2 * i + 1 - k));
    }
    return sum;
  }
  const real n = round(x), angle = pi * (x - n), wave = k == 1 ? cos(angle) : -pi * sin(angle);
  return ((n / 2 == floor(n / 2) ? wave : -wave) - k * sinc_slope(k - 1, x)) / x;
}

/// e^-|x| I_n(x), for n = 0 and 1: the series, whose terms are positive, or beyond 40 the asymptotic one.
constexpr real scaled_bessel(int n, real x) {
  if (x != x) return x;
  const real a = abs(x);
  if (a == infinity) return 0;
  real sum = 1, term = 1;
  if (a < 40) {
    for (int k = 1; k < 100; ++k) sum += term *= a / 2 * (a / 2) / k / (k + n);
    sum *= exp(-a) * (n == 0 ? 1 : a / 2);
  } else {
    for (int k = 1; k < 40; ++k) sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * n * n) / (8.0L * k) / a;
    sum *= 0.398942280401432677939946059934381868L / sqrt(a);
  }
  return n == 1 && is_negative(x) ? -sum : sum;
}
constexpr real i0e(real x) { return scaled_bessel(0, x); }
constexpr real i1e(real x) { return scaled_bessel(1, x); }

/// z for Phi(z) = p, for p from 0 to 1 / 4: Newton's method for log Phi, which is concave, from the left.
constexpr real normal_quantile(real p) {
  if (p == 0) return -infinity;
  const real l = log(p);
  real z = -sqrt(-2 * l);
  for (int i = 0; i < 12; ++i) {
    const real step = (l - log_normal_cdf(z)) / normal_ratio(z);
    z += step;
    if (step < 1e-11L * -z) break;  // the digits double with each step
  }
  return z;
}
constexpr real erfinv(real x) {
  if (!(abs(x) <= 1)) return nan;
  if (abs(x) > 0.5L) {
    const real y = normal_quantile((1 - abs(x)) / 2) * 0.707106781186547524400844362104849039L;
    return x > 0 ? -y : y;
  }
  if (x == 0) return x;
  real y = x;
  for (int i = 0; i < 6; ++i) y -= (erf(y) - x) * 0.886226925452758013649083741670572592L * exp(y * y);
  return y;
}
constexpr real normal_icdf(real p) {
  if (!(p >= 0 && p <= 1)) return nan;
  return p < 0.25L ? normal_quantile(p) : p > 0.75L ? -normal_quantile(1 - p) : 1.414213562373095048801688724209698079L * erfinv(2 * p - 1);
}

}  // namespace tenure::math::constant
