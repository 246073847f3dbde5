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

bool near(double got, double wanted) {
  if (wanted != wanted) return got != got;
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
  for (const double x : {0.0, 1.0, -1.0, 0.5, 1e-300, -1e-300, 1e-9, 1e300, static_cast<double>(INFINITY), -static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    if (x < from || (x > to && x < 1e308)) continue;
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
  COMPARE(atan, -20, 20);
  COMPARE(sinh, -20, 20);
  COMPARE(cosh, -20, 20);
  COMPARE(tanh, -30, 30);
  COMPARE(erf, -7, 7);
  COMPARE(floor, -20, 20);
  for (const double x : {0.5, 1.5, 2.5, -0.5, -1.5, 3.2, -3.2, 3.7}) CHECK(static_cast<double>(constant::round(x)) == std::nearbyint(x));
}

TEST_CASE("elementary functions of two constants: within 1 ulp") {
  for (const double x : {0.0, 0.3, 1.0, 2.0, 7.5, -1.0, -2.5, 100.0})
    for (const double y : {0.0, 0.5, 1.0, 3.0, -3.0, -0.7, 2.3, 40.0}) {
      INFO(x << " and " << y);
      CHECK(near(static_cast<double>(constant::pow(x, y)), static_cast<double>(std::pow(real(x), real(y)))));
      CHECK(near(static_cast<double>(constant::atan2(y, x)), static_cast<double>(std::atan2(real(y), real(x)))));
    }
}

}  // namespace
