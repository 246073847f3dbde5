// SPDX-License-Identifier: BSL-1.0
// Law: rounded to double, a result is within 1 ulp of the right one, here that of <cmath> in long double.
#include <cmath>

#include <tenure/math/constant.hpp>

#include "catch.hpp"

namespace {

namespace constant = tenure::math::constant;
using constant::real;

// Known to the compiler.
static_assert(static_cast<double>(constant::sqrt(2)) == 1.4142135623730951);
static_assert(static_cast<double>(constant::exp(1)) == 2.718281828459045);
static_assert(static_cast<double>(constant::log(10)) == 2.302585092994046);
static_assert(static_cast<double>(constant::sin(1)) == 0.8414709848078965);
static_assert(static_cast<double>(constant::pow(2, -3)) == 0.125);
static_assert(static_cast<double>(constant::erf(0.5L)) == 0.5204998778130465);

// Infinities, NaN and zeros, known to the compiler, and a result that is greater than every number.
constexpr real inf = constant::infinity, nan = constant::nan;
template <class F>
constexpr bool keeps_nan(F f) { return f(nan) != f(nan); }
static_assert(constant::exp(inf) == inf && constant::exp(-inf) == 0 && constant::exp(11400) == inf && constant::exp(-11400) == 0 &&
              constant::exp(11356) < inf);
static_assert(constant::expm1(inf) == inf && constant::expm1(-inf) == -1 && constant::expm1(11400) == inf);
static_assert(constant::log(inf) == inf && constant::log(0) == -inf && constant::log2(inf) == inf && constant::log1p(inf) == inf &&
              constant::log1p(-1) == -inf);
static_assert(constant::sqrt(inf) == inf && constant::atan(inf) == constant::half_pi && constant::floor(-inf) == -inf && constant::round(inf) == inf);
static_assert(constant::sinh(-inf) == -inf && constant::cosh(-inf) == inf && constant::sinh(11400) == inf && constant::cosh(11400) == inf);
static_assert(constant::tanh(inf) == 1 && constant::tanh(-inf) == -1 && constant::erf(inf) == 1 && constant::erf(-inf) == -1);
static_assert(constant::sin(inf) != constant::sin(inf) && constant::cos(-inf) != constant::cos(-inf) && constant::log(-1) != constant::log(-1));
static_assert(keeps_nan(constant::exp) && keeps_nan(constant::expm1) && keeps_nan(constant::log) && keeps_nan(constant::log2) &&
              keeps_nan(constant::log1p));
static_assert(keeps_nan(constant::sqrt) && keeps_nan(constant::sin) && keeps_nan(constant::cos) && keeps_nan(constant::atan) &&
              keeps_nan(constant::sinh));
static_assert(keeps_nan(constant::cosh) && keeps_nan(constant::tanh) && keeps_nan(constant::erf) && keeps_nan(constant::floor) &&
              keeps_nan(constant::round));
static_assert(constant::pow(1e300L, 17) == inf && constant::pow(1e-300L, -17) == inf && constant::pow(1e300L, 1000) == inf);
static_assert(constant::pow(1e-300L, -1000) == inf && constant::pow(-1e300L, 1001) == -inf && constant::pow(1e300L, -1000) == 0 &&
              constant::pow(0, -3) == inf);
static_assert(constant::pow(-0.0L, -3) == -inf && constant::pow(-inf, 3) == -inf && constant::pow(-1, inf) == 1 && constant::pow(0.5L, inf) == 0);
static_assert(constant::atan2(inf, inf) == constant::half_pi / 2 && constant::atan2(-inf, -inf) == -1.5L * constant::half_pi);
static_assert(constant::atan2(0, -0.0L) == 2 * constant::half_pi && constant::atan2(-0.0L, -1) == -2 * constant::half_pi &&
              constant::atan2(1, inf) == 0);

static_assert(constant::fmod(-7.5L, 2) == -1.5L && constant::remainder(-7.5L, 2) == 0.5L && constant::floor_divide(1, 0.1) == 9 && constant::floor_divide(-7, 2) == -4);
static_assert(constant::floor_divide(1, 0) == inf && constant::floor_divide(1, -inf) == -1 && constant::fmod(0x1p300L, 3) == 1 && constant::xlogy(0, 0) == 0);

constexpr double infinite = INFINITY, not_a_number = NAN;

bool near(double got, double wanted) {
  if (wanted != wanted) return got != got;
  if (wanted == 0 && std::signbit(got) != std::signbit(wanted)) return false;
  return got == wanted || std::fabs(got - wanted) <= std::nextafter(std::fabs(wanted), INFINITY) - std::fabs(wanted);
}

template <class Ours, class Theirs>
void compare(const char* name, Ours ours, Theirs theirs, double from, double to) {
  const int steps = 20011;
  for (int i = 0; i <= steps; ++i) {
    const double x = from + (to - from) / steps * i;
    INFO(name << '(' << x << "): " << static_cast<double>(ours(x)) << " and " << theirs(x));
    const bool agrees = near(static_cast<double>(ours(x)), theirs(x));
    if (!agrees) CHECK(agrees);
  }
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, -1e-300, 1e-9, 1e300, infinite, -infinite, not_a_number}) {
    if (std::isfinite(x) && (x < from || x > to)) continue;
    INFO(name << '(' << x << "): " << static_cast<double>(ours(x)) << " and " << theirs(x));
    CHECK(near(static_cast<double>(ours(x)), theirs(x)));
  }
}

#define COMPARE(f, from, to) compare(#f, [](real x) { return constant::f(x); }, [](real x) { return static_cast<double>(std::f(x)); }, from, to)

TEST_CASE("elementary functions of constants: within 1 ulp") {
  COMPARE(exp, -700, 700);
  COMPARE(expm1, -50, 50);
  COMPARE(expm1, -1e-3, 1e-3);
  COMPARE(log, 0, 10);
  COMPARE(log, 1e-300, 1e300);
  COMPARE(log2, 0, 10);
  COMPARE(log1p, -0.99, 3);
  COMPARE(log1p, -1e-6, 1e-6);
  COMPARE(sqrt, 0, 1e6);
  COMPARE(sin, -100, 100);
  COMPARE(cos, -100, 100);
  COMPARE(sin, 99000, 1e5);
  COMPARE(sin, 1.05e9, 1073741823);
  COMPARE(cos, -1073741823, -1.05e9);
  CHECK_THROWS(constant::sin(0x1p30L));
  CHECK_THROWS(constant::cos(-1e300L));
  COMPARE(atan, -20, 20);
  COMPARE(sinh, -20, 20);
  COMPARE(cosh, -20, 20);
  COMPARE(tanh, -30, 30);
  COMPARE(erf, -7, 7);
  COMPARE(floor, -20, 20);
  COMPARE(ceil, -20, 20);
  COMPARE(trunc, -20, 20);
  COMPARE(log10, 0, 10);
  COMPARE(log10, 1e-300, 1e300);
  for (double x = 1, n = 0; n <= 22; x *= 10, ++n) CHECK(constant::log10(x) == real(n));
  COMPARE(exp2, -1030, 1020);
  COMPARE(tan, -100, 100);
  COMPARE(tan, 1.05e9, 1073741823);
  COMPARE(asin, -1, 1);
  COMPARE(acos, -1, 1);
  COMPARE(asinh, -20, 20);
  COMPARE(asinh, -1e300, 1e300);
  COMPARE(acosh, 1, 20);
  COMPARE(acosh, 1, 1.0001);
  COMPARE(acosh, 1, 1e300);
  COMPARE(atanh, -1, 1);
  COMPARE(erfc, -7, 27);
  for (const double x : {0.5, 1.5, 2.5, -0.5, -1.5, 3.2, -3.2, 3.7}) CHECK(static_cast<double>(constant::round(x)) == std::nearbyint(x));
}

TEST_CASE("elementary functions of two constants: within 1 ulp") {
  for (const double x : {0.0, -0.0, 0.3, 1.0, 2.0, 7.5, -1.0, -2.5, 100.0, 1e300, 1e-300, -1e300, -1e-300, infinite, -infinite, not_a_number})
    for (const double y : {0.0, -0.0, 0.5, 1.0, 3.0, -3.0, -4.0, -0.7, 2.3, 40.0, 17.0, -17.0, infinite, -infinite, not_a_number}) {
      INFO(x << " and " << y);
      CHECK(near(static_cast<double>(constant::pow(x, y)), static_cast<double>(std::pow(real(x), real(y)))));
      CHECK(near(static_cast<double>(constant::atan2(y, x)), static_cast<double>(std::atan2(real(y), real(x)))));
      const real r = std::fmod(real(x), real(y));
      CHECK(near(static_cast<double>(constant::fmod(x, y)), static_cast<double>(r)));
      CHECK(near(static_cast<double>(constant::remainder(x, y)), static_cast<double>(r != 0 && (r < 0) != (y < 0) ? r + y : r)));
    }
}

}  // namespace
