// SPDX-License-Identifier: BSL-1.0
// The incomplete gamma functions and their derivatives of one number in long double, for plain numbers and constants, and as the reference of the packets:
// the series for x up to a, and the continued fraction beyond.
// Law: rounded to double, gammainc, gammaincc and their derivatives are within 4 ulp for a up to 10^4.
// Cost: some hundred steps of the compiler for each call, and in proportion to sqrt(a).
#pragma once

#include <tenure/math/constant_gamma.hpp>

namespace TENURE_NAMESPACE::math::constant {

/// lgamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, for a from 20 on.
constexpr real stirling_rest(real a) {
  constexpr real terms[] = {1 / 12.0L, -1 / 360.0L, 1 / 1260.0L, -1 / 1680.0L, 1 / 1188.0L, -691 / 360360.0L, 1 / 156.0L, -3617 / 122400.0L};
  real sum = 0;
  for (int k = 7; k >= 0; --k) sum = sum / a / a + terms[k];
  return sum / a;
}
/// a log(a / x) + x - a.
constexpr real deviance(real a, real x) {
  const real s = (x - a) / (x + a);
  if (abs(s) > 0.125L) return x - a - a * log(x / a);
  real sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = sum * s * s + 1.0L / k;
  return (x - a) * s - 2 * a * s * s * s * sum;
}
/// x^a e^-x / gamma(a + 1).
constexpr real gamma_prefix(real a, real x) {
  if (a >= 20) return exp(-deviance(a, x) - stirling_rest(a)) / sqrt(4 * half_pi * a);
  return exp(a * log(x) - x - lgamma(a + 1));
}

struct gamma_numbers {
  real lower = 0, upper = 1, slope = 0;
};
constexpr gamma_numbers incomplete_gamma(real a, real x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return {nan, nan, nan};
  if (x == 0 || a == infinity) return {};
  if (x == infinity) return {1, 0, 0};
  const real prefix = gamma_prefix(a, x), from_digamma = log(x) - digamma(a + 1);
  if (x <= a || x <= 1) {
    real term = 1, slope = 0, sum = 1, slopes = 0;
    for (real n = a + 1; term > sum * 1e-21L || -slope > slopes * -1e-21L; ++n) {
      slope = x / n * (slope - term / n);
      term *= x / n;
      sum += term;
      slopes += slope;
    }
    gamma_numbers r{prefix * sum, 1 - prefix * sum, prefix * (sum * from_digamma + slopes)};
    if (a < 1) {
      real s = 0;
      for (int n = 26; n > 0; --n) s = -x / n * (1 / (a + n) + s);
      const real l = a < 0.5L ? lgamma_near_2(a) - log1p(a) : lgamma_near_2(a - 1), m = expm1(a * log(x) - l);
      r.upper = -m - (m + 1) * a * s;
      if (a == 0) r.lower = 1;
    }
    return r;
  }
  real n = floor(16 + 140 / x + 8 * sqrt(a < x ? a : x)), b = x + 2 * n + 1 - a;
  const real root = sqrt(b * b - 4 * n * (n - a));
  real f = (b + root) / 2, slope = ((2 * n - b) / root - 1) / 2;
  for (; n >= 1; --n) {
    slope = (n - n * (a - n) / f * slope) / f - 1;
    f = x + 2 * n - 1 - a + n * (a - n) / f;
  }
  const real upper = prefix * a / f;
  return {1 - upper, upper, -prefix * (a / f * from_digamma + 1 / f - a * slope / f / f)};
}
constexpr real gammainc(real a, real x) { return incomplete_gamma(a, x).lower; }
constexpr real gammaincc(real a, real x) { return incomplete_gamma(a, x).upper; }
constexpr real gammainc_slope(real a, real x) { return incomplete_gamma(a, x).slope; }
constexpr real gamma_density(real a, real x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
  if (a == 0 || a == infinity || x == infinity) return 0;
  if (x == 0) return a < 1 ? infinity : a == 1 ? 1 : 0;
  return gamma_prefix(a, x) * a / x;
}

}  // namespace tenure::math::constant
