// SPDX-License-Identifier: BSL-1.0
// The incomplete beta function and its derivatives of one number in long double, for plain numbers and constants, and as the reference of the packets: the continued
// fraction of math/incomplete_beta.hpp, with more terms than it needs.
// Law: rounded to double, betainc is within 8 ulp for a and b up to 10^3 where it is no difference from 1.
// Cost: some thousand steps of the compiler for each call.
#pragma once

#include <tenure/math/constant_incomplete.hpp>

namespace TENURE_NAMESPACE::math::constant {

struct beta_numbers {
  real value = 0, by_a = 0, by_b = 0, density = 0;
};
constexpr beta_numbers incomplete_beta(real a, real b, real x) {
  const bool falls = b == 0 || a == infinity, rises = a == 0 || b == infinity;
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1) || (falls && rises)) return {nan, nan, nan, nan};
  const auto end = [](real shape, real other) { return shape == 1 ? other : shape < 1 ? infinity : 0; };
  if (x == 1) return {1, 0, 0, end(b, a)};
  if (x == 0) return {0, 0, 0, end(a, b)};
  if (rises || falls) return {rises ? 1.0L : 0.0L, 0, 0, 0};
  const real y = 1 - x, s = a + b, excess = a * y - b * x;
  const bool is_direct = x * (s + 2) <= a + 1 || (b < 1 && x <= 0.9L), large = a >= 20 && b >= 20;
  const real h = large ? exp(stirling_rest(s) - stirling_rest(a) - stirling_rest(b) - deviance(a, a - excess) - deviance(b, b + excess)) * sqrt(a / s * b / (4 * half_pi))
                       : exp(a * log(x) + b * log1p(-x) + lgamma(s) - lgamma(a) - lgamma(b));
  const real c = is_direct ? a : b, d = is_direct ? b : a, u = is_direct ? x : y, start = (is_direct ? excess : -excess) + 1;
  real m = floor(70 + 3 * sqrt(s < 1e6L ? s : 1e6L)), f = m, by_c = 0, by_d = 0;
  for (; m >= 1; --m) {
    const real n = m - 1, q = 1 / (c + 2 * m - 1), p = n == 0 ? 1 : 1 / (c + 2 * m - 3), k = n == 0 ? 1 : c + n, grows = n == 0 ? 0 : 1;
    const real size = (s + n) * u * q, rest = m * (d - m) * u, t = k * q * size * rest, second = start + n * (2 - u), first = n * p * (d - n) * u;
    const real top_c = (grows * size + k * q * u) * q * rest - 2 * t * q, top_d = k * q * (u * q * rest + size * m * u);
    const real bottom = n + first + k * q * second, bottom_c = -first * p + (grows - k * q) * second * q + k * q * (1 - u), bottom_d = u * (n * p - k * q);
    by_c = bottom_c + (top_c - t / f * by_c) / f;
    by_d = bottom_d + (top_d - t / f * by_d) / f;
    f = bottom + t / f;
  }
  const real part = h / f / c;
  const real log_a = log(x) + digamma(s) - digamma(a + 1) + (is_direct ? 0 : 1 / a), log_b = log1p(-x) + digamma(s) - digamma(b + 1) + (is_direct ? 1 / b : 0);
  const real by_a = part * (log_a - (is_direct ? by_c : by_d) / f), by_b = part * (log_b - (is_direct ? by_d : by_c) / f);
  return {is_direct ? part : 1 - part, is_direct ? by_a : -by_a, is_direct ? by_b : -by_b, h / x / y};
}
constexpr real betainc(real a, real b, real x) { return incomplete_beta(a, b, x).value; }
constexpr real betainc_slope(int which, real a, real b, real x) { return which == 0 ? incomplete_beta(a, b, x).by_a : incomplete_beta(a, b, x).by_b; }
constexpr real beta_density(real a, real b, real x) { return incomplete_beta(a, b, x).density; }

}  // namespace tenure::math::constant
