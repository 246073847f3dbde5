// SPDX-License-Identifier: BSL-1.0
// Elementary functions of one number, for constant evaluation: in C++20 those of <cmath> are no constants, and clang++ refuses them.
// Series in long double. Law: rounded to double, a result is within 1 ulp of the right one. NaN, infinities and zeros with a sign as in <cmath>. sin
// and cos refuse finite numbers from 2^30 on, where the reduction by multiples of pi / 2 is no longer exact. Cost: some hundred steps of the compiler
// for each call. Nothing here runs in a program. No arithmetic has a NaN or an overflow as its result: clang++ and g++ refuse that in a constant.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include <tenure/core/config.hpp>
#include <tenure/core/raise.hpp>

namespace TENURE_NAMESPACE::math::constant {

using real = long double;
inline constexpr real infinity = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
inline constexpr real ln2 = 0.693147180559945309417232121458176568L, half_pi = 1.570796326794896619231321691639751442L;

constexpr real abs(real x) { return x < 0 ? -x : x == 0 ? 0 : x; }
/// Whether x has the sign of negative numbers, also -0.
constexpr bool is_negative(real x) { return x < 0 || (x == 0 && std::bit_cast<std::uint64_t>(static_cast<double>(x)) != 0); }
constexpr real floor(real x) {
  if (!(x > -0x1p62L && x < 0x1p62L)) return x;  // has no fraction
  const real whole = static_cast<real>(static_cast<long long>(x));
  return whole == x ? x : whole > x ? whole - 1 : whole;
}
constexpr real ceil(real x) {
  const real below = floor(x);
  return below == x || x != x ? x : below == -1 ? -0.0L : below + 1;
}
constexpr real trunc(real x) { return x < 0 ? ceil(x) : floor(x); }
/// The nearest integer; a half goes to the even neighbour.
constexpr real round(real x) {
  const real below = floor(x);
  if (below == x || x != x) return x;
  const real rest = x - below;
  const bool goes_up = rest > 0.5L || (rest == 0.5L && below / 2 != floor(below / 2));
  return !goes_up ? below : below == -1 ? -0.0L : below + 1;
}
/// x * 2^n.
constexpr real scaled(real x, int n) {
  for (real factor = n < 0 ? 0.5L : 2; n != 0; n /= 2) {
    if (n % 2 != 0) x *= factor;
    if (n / 2 != 0) factor *= factor;  // an overflow is no constant
  }
  return x;
}

/// Exact. A long division by powers of two of y.
constexpr real fmod(real x, real y) {
  const real b = abs(y);
  if (x != x || !(abs(x) < infinity) || !(b > 0)) return nan;
  if (b == infinity) return x;
  real rest = abs(x), step = b;
  while (step <= rest / 2) step *= 2;
  for (; step >= b; step /= 2)
    if (rest >= step) rest -= step;
  return is_negative(x) ? -rest : rest;
}
constexpr real remainder(real x, real y) {
  const real r = fmod(x, y);
  return r == r && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
constexpr real floor_divide(real x, real y) {
  if (x != x || y != y) return nan;
  if (y == 0) return x == 0 ? nan : is_negative(x) == is_negative(y) ? infinity : -infinity;
  const real r = fmod(x, y);
  if (r != r) return nan;
  const real whole = round((x - r) / y) - (r != 0 && (r < 0) != (y < 0) ? 1 : 0);
  return whole != 0 ? whole : is_negative(x) == is_negative(y) ? 0 : -0.0L;
}

inline constexpr real max_exponent = 11356;  // exp(11357) is more than the greatest long double

constexpr real expm1(real x) {
  if (!(x > -50)) return x != x ? x : -1;
  if (x == 0) return x;
  if (x > max_exponent) return infinity;
  const real k = round(x / ln2), r = x - k * 0x1.62e42fefp-1L - k * (ln2 - 0x1.62e42fefp-1L);
  real sum = 0;
  for (int n = 24; n > 0; --n) sum = (sum + 1) * r / n;
  const real factor = scaled(1, static_cast<int>(k));
  return sum * factor + (factor - 1);
}
constexpr real exp(real x) { return x != x ? x : x < -max_exponent ? 0 : x < 0 ? 1 / (expm1(-x) + 1) : expm1(x) + 1; }

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
  if (!(x > 0) || x == infinity) return log(x);
  const real y = log(x) / ln2, whole = round(y);
  return whole > -16000 && whole < 16000 && scaled(1, static_cast<int>(whole)) == x ? whole : y;
}
constexpr real log10(real x) {
  if (!(x > 0) || x == infinity) return log(x);
  const real y = log(x) / 2.302585092994045684017991454684364208L, whole = round(y);
  real power = 1;  // 10^27 is the last one that is exact
  for (int n = 0; n < whole && n < 28; ++n) power *= 10;
  return whole >= 0 && power == x ? whole : y;
}
constexpr real exp2(real x) {
  if (x != x || x > 16000 || x < -16000) return x != x ? x : x < 0 ? 0 : infinity;
  const real k = round(abs(x)), power = scaled(expm1((abs(x) - k) * ln2) + 1, static_cast<int>(k));
  return x < 0 ? 1 / power : power;
}
constexpr real log1p(real x) { return x != x ? x : x > -0.25L && x < 0.25L ? log_series(x / (2 + x)) : log(1 + x); }

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
  if (x < 0 && x != -infinity && !is_integer) return nan;
  const bool flips = is_odd && is_negative(x);
  if (x == -1) return flips ? -1 : 1;
  const real exponent = y * log(abs(x));
  real power = 1;
  if (is_integer && y > -1025 && y < 1025 && abs(exponent) < max_exponent) {
    real base = abs(x);
    for (int n = static_cast<int>(abs(y)); n > 0; n /= 2) {
      if (n % 2 != 0) power *= base;
      if (n > 1) base *= base;
    }
    if (y < 0) power = 1 / power;
  } else {
    power = exp(exponent);
  }
  return flips ? -power : power;
}

constexpr real xlogy(real x, real y) {
  if (x != x || y != y) return nan;
  if (x == 0) return 0;
  return y < 0 || (y == 1 && abs(x) == infinity) ? nan : x * log(y);
}

/// The sine of x plus `turns` right angles.
constexpr real turned_sin(real x, long long turns) {
  if (x != x || abs(x) == infinity) return nan;
  if (abs(x) >= 0x1p30L) TENURE_THROW("tenure: sin, cos, tan: a plain number in a trace is 2^30 or more: its angle would not be exact");
  const real k = round(x / half_pi);
  const real r = x - k * 0x1.921fb544p+0L - k * 0x0.42d18469p-32L - k * 0x0.898cc51701b839a2p-64L;  // half_pi in three parts
  turns += static_cast<long long>(k);
  const bool is_cosine = turns % 2 != 0, flips = (turns % 4 + 4) % 4 >= 2;
  real sum = 0;
  for (int n = is_cosine ? 24 : 25; n > 1; n -= 2) sum = (sum + 1) * -r * r / (n * (n - 1));
  const real wave = (sum + 1) * (is_cosine ? 1 : r);
  return flips ? -wave : wave;
}
constexpr real sin(real x) { return x == 0 ? x : turned_sin(x, 0); }
constexpr real cos(real x) { return turned_sin(x, 1); }

constexpr real atan(real x) {
  if (x != x) return x;
  if (x < 0) return -atan(-x);
  if (x > 1) return half_pi - atan(1 / x);
  if (x > 0.4142135623730950488L) return half_pi / 2 + atan((x - 1) / (x + 1));
  real sum = 0;
  for (int n = 51; n > 0; n -= 2) sum = 1.0L / n - sum * x * x;
  return sum * x;
}
constexpr real atan2(real y, real x) {
  if (x != x || y != y) return nan;
  const real a = abs(y), b = abs(x);
  const real acute = a > b ? half_pi - atan(b / a) : a < b ? atan(a / b) : a == 0 ? 0 : half_pi / 2;  // also where both are infinite
  const real angle = is_negative(x) ? 2 * half_pi - acute : acute;
  return is_negative(y) ? -angle : angle;
}

constexpr real tan(real x) { return x == 0 ? x : turned_sin(x, 0) / turned_sin(x, 1); }
constexpr real asin(real x) { return abs(x) <= 1 ? atan2(x, sqrt((1 - x) * (1 + x))) : nan; }
constexpr real acos(real x) { return abs(x) <= 1 ? atan2(sqrt((1 - x) * (1 + x)), x) : nan; }

constexpr real asinh(real x) {
  if (x != x || x == 0 || abs(x) == infinity) return x;
  const real a = abs(x), y = a > 1e10L ? log(a) + ln2 : log1p(a + a * a / (1 + sqrt(1 + a * a)));
  return x < 0 ? -y : y;
}
constexpr real acosh(real x) {
  if (!(x >= 1)) return nan;
  return x > 1e10L ? log(x) + ln2 : log1p(x - 1 + sqrt((x - 1) * (x + 1)));
}
constexpr real atanh(real x) {
  const real a = abs(x);
  if (!(a < 1) || a == 0) return a == 0 ? x : x == 1 ? infinity : x == -1 ? -infinity : nan;
  const real y = log1p(2 * a / (1 - a)) / 2;
  return x < 0 ? -y : y;
}

constexpr real sinh(real x) {
  if (x != x || x == 0) return x;
  const real e = expm1(abs(x)), half = e == infinity ? e : (e + e / (e + 1)) / 2;
  return x < 0 ? -half : half;
}
constexpr real cosh(real x) {
  const real e = exp(abs(x));
  return x != x ? x : (e + 1 / e) / 2;
}
constexpr real tanh(real x) {
  if (!(abs(x) <= 25)) return x != x ? x : x < 0 ? -1 : 1;
  const real e = expm1(2 * x);
  return e / (e + 2);
}
constexpr real erf(real x) {
  if (!(abs(x) <= 7)) return x != x ? x : x < 0 ? -1 : 1;
  real sum = 0;
  for (int n = 150; n >= 0; --n) sum = 1 + sum * 2 * x * x / (2 * n + 3);  // 1 + 2xx/3 (1 + 2xx/5 (1 + ...))
  return 1.128379167095512573896158903121545172L * x * exp(-x * x) * sum;
}

constexpr real erfc(real x) {
  if (!(x > 2)) return 1 - erf(x);
  if (x > 107) return 0;
  real fraction = x;  // Laplace's continued fraction
  for (int n = 150; n > 0; --n) fraction = x + n / 2.0L / fraction;
  return exp(-x * x) / (1.772453850905516027298167483341145183L * fraction);
}

}  // namespace tenure::math::constant
