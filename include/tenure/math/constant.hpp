// SPDX-License-Identifier: BSL-1.0
// Elementary functions of one number, for constant evaluation: in C++20 those of <cmath> are no constants, and clang++ refuses them.
// Series in long double. Law: rounded to double, a result is within 1 ulp of the right one; sin and cos for |x| up to 1e5. NaN gives NaN;
// infinities as in <cmath>. Cost: some hundred steps of the compiler for each call. Nothing here runs in a program.
#pragma once

#include <limits>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::math::constant {

using real = long double;
inline constexpr real infinity = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
inline constexpr real ln2 = 0.693147180559945309417232121458176568L, half_pi = 1.570796326794896619231321691639751442L;

constexpr real floor(real x) {
  if (!(x > -0x1p62L && x < 0x1p62L)) return x;  // has no fraction
  const real whole = static_cast<real>(static_cast<long long>(x));
  return whole > x ? whole - 1 : whole;
}
/// The nearest integer; a half goes to the even neighbour.
constexpr real round(real x) {
  const real below = floor(x), rest = x - below;
  if (rest != 0.5L) return rest > 0.5L ? below + 1 : below;
  return below / 2 == floor(below / 2) ? below : below + 1;
}
/// x * 2^n.
constexpr real scaled(real x, int n) {
  for (real factor = n < 0 ? 0.5L : 2; n != 0; n /= 2) {
    if (n % 2 != 0) x *= factor;
    if (n / 2 != 0) factor *= factor;  // an overflow is no constant
  }
  return x;
}

constexpr real expm1(real x) {
  if (!(x > -50)) return x != x ? x : -1;
  if (x > 12000) return infinity;
  const real k = round(x / ln2), r = x - k * 0x1.62e42fefp-1L - k * (ln2 - 0x1.62e42fefp-1L);
  real sum = 0;
  for (int n = 24; n > 0; --n) sum = (sum + 1) * r / n;
  const real factor = scaled(1, static_cast<int>(k));
  return sum * factor + (factor - 1);
}
constexpr real exp(real x) { return x < -12000 ? 0 : x < 0 ? 1 / (expm1(-x) + 1) : expm1(x) + 1; }

/// 2 artanh(s) for small s.
constexpr real log_series(real s) {
  real sum = 0;
  for (int n = 41; n > 0; n -= 2) sum = sum * s * s + 2.0L / n;
  return sum * s;
}
constexpr real log(real x) {
  if (!(x > 0)) return x == 0 ? -infinity : nan;
  if (x == infinity) return x;
  int exponent = 0;
  for (int step = 8192; step > 0; step /= 2) {
    while (x >= scaled(1.4142135623730950488L, step)) x = scaled(x, -step), exponent += step;
    while (x < scaled(1.4142135623730950488L, -step)) x = scaled(x, step), exponent -= step;
  }
  if (x > 1.4142135623730950488L) x /= 2, ++exponent;
  return exponent * ln2 + log_series((x - 1) / (x + 1));
}
constexpr real log2(real x) {
  const real y = log(x) / ln2, whole = round(y);
  return whole > -16000 && whole < 16000 && scaled(1, static_cast<int>(whole)) == x ? whole : y;
}
constexpr real log1p(real x) { return x > -0.25L && x < 0.25L ? log_series(x / (2 + x)) : log(1 + x); }

constexpr real sqrt(real x) {
  if (!(x > 0) || x == infinity) return x < 0 ? nan : x;
  int exponent = 0;
  for (; x >= 4; ++exponent) x /= 4;
  for (; x < 1; --exponent) x *= 4;
  real root = 1.5L;
  for (int i = 0; i < 7; ++i) root = (root + x / root) / 2;
  return scaled(root, exponent);
}

constexpr real pow(real x, real y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return nan;
  const bool is_integer = floor(y) == y, is_odd = is_integer && floor(y / 2) != y / 2;
  if (is_integer && y > -1025 && y < 1025 && x != 0) {
    real power = 1, base = x;
    for (int n = static_cast<int>(y < 0 ? -y : y); n > 0; n /= 2) {
      if (n % 2 != 0) power *= base;
      if (n > 1) base *= base;
    }
    return y < 0 ? 1 / power : power;
  }
  if (x < 0 && !is_integer) return nan;
  if (x == 0) return y > 0 ? 0 : infinity;
  const real size = exp(y * log(x < 0 ? -x : x));
  return x < 0 && is_odd ? -size : size;
}

/// The sine of x plus `turns` right angles.
constexpr real turned_sin(real x, long long turns) {
  if (!(x > -0x1p40L && x < 0x1p40L)) return nan;
  const real k = round(x / half_pi);
  const real r = x - k * 0x1.921fb544p+0L - k * 0x0.42d18469p-32L - k * 0x0.898cc51701b839p-64L;  // half_pi in three parts
  turns += static_cast<long long>(k);
  const bool is_cosine = turns % 2 != 0, is_negative = (turns % 4 + 4) % 4 >= 2;
  real sum = 0;
  for (int n = is_cosine ? 24 : 25; n > 1; n -= 2) sum = (sum + 1) * -r * r / (n * (n - 1));
  const real wave = (sum + 1) * (is_cosine ? 1 : r);
  return is_negative ? -wave : wave;
}
constexpr real sin(real x) { return turned_sin(x, 0); }
constexpr real cos(real x) { return turned_sin(x, 1); }

constexpr real atan(real x) {
  if (x < 0) return -atan(-x);
  if (x > 1) return half_pi - atan(1 / x);
  if (x > 0.4142135623730950488L) return half_pi / 2 + atan((x - 1) / (x + 1));
  real sum = 0;
  for (int n = 51; n > 0; n -= 2) sum = 1.0L / n - sum * x * x;
  return sum * x;
}
constexpr real atan2(real y, real x) {
  if (x != x || y != y) return nan;
  if (x == 0 && y == 0) return 0;
  const bool is_steep = (y < 0 ? -y : y) > (x < 0 ? -x : x);
  if (is_steep) return (y < 0 ? -half_pi : half_pi) - atan(x / y);
  return x < 0 ? atan(y / x) + (y < 0 ? -2 : 2) * half_pi : atan(y / x);
}

constexpr real sinh(real x) {
  const real e = expm1(x < 0 ? -x : x), size = e == infinity ? e : (e + e / (e + 1)) / 2;
  return x < 0 ? -size : size;
}
constexpr real cosh(real x) {
  const real e = exp(x < 0 ? -x : x);
  return (e + 1 / e) / 2;
}
constexpr real tanh(real x) {
  if (x > 25 || x < -25) return x < 0 ? -1 : 1;
  const real e = expm1(2 * x);
  return e / (e + 2);
}
constexpr real erf(real x) {
  if (x > 7 || x < -7) return x < 0 ? -1 : 1;
  real sum = 0;
  for (int n = 150; n >= 0; --n) sum = 1 + sum * 2 * x * x / (2 * n + 3);  // 1 + 2xx/3 (1 + 2xx/5 (1 + ...))
  return 1.128379167095512573896158903121545172L * x * exp(-x * x) * sum;
}

}  // namespace tenure::math::constant
