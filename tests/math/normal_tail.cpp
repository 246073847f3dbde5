// SPDX-License-Identifier: BSL-1.0
// log_normal_cdf and its derivatives against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/normal_tail.hpp>

#include <algorithm>

#include "../catch.hpp"
#include "data_normal_tail.hpp"
#include "ulp.hpp"

namespace {

using namespace math_test;
namespace constant = tenure::math::constant;

template <class P>
m::scalar_of<P> of(int which, m::scalar_of<P> x) {
  m::scalar_of<P> lanes[m::width<P>];
  const P p = m::set1<P>(x);
  m::store<P>(lanes, which == 0 ? m::log_normal_cdf(p) : which == 1 ? m::normal_ratio(p) : m::normal_excess(p));
  return lanes[m::width<P> - 1];
}
constexpr long double constant_of(int which, long double x) {
  return which == 0 ? constant::log_normal_cdf(x) : which == 1 ? constant::normal_ratio(x) : constant::normal_excess(x);
}

template <class P>
void check_golden(const char* kind) {
  using T = m::scalar_of<P>;
  for (int which = 0; which < 3; ++which) {
    double worst = 0, at = 0;
    for (const golden_normal& g : of_normal) {
      const T got = of<P>(which, static_cast<T>(g.x));
      int exponent = 0;
      std::frexp(g.value[which], &exponent);
      exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
      const double error = static_cast<double>(std::fabs(static_cast<long double>(got) - g.value[which]) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
      if (!(error <= worst)) worst = error, at = g.x;
    }
    std::printf("function %d of the tail %-8s %.2f ulp at %.9g\n", which, kind, worst, at);
    INFO("function " << which << ' ' << kind << " at " << at << ": " << worst << " ulp");
    CHECK(worst <= 4.5);
  }
}

template <class P>
void check_special() {
  using T = m::scalar_of<P>;
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN();
  const T x[] = {inf, -inf, n, 0};
  const T wanted[3][4] = {{0, -inf, n, T(-0.69314718055994530942L)}, {0, inf, n, T(0.79788456080286535588L)}, {inf, 0, n, T(0.79788456080286535588L)}};
  for (int which = 0; which < 3; ++which)
    for (int i = 0; i < 4; ++i) {
      const T got = of<P>(which, x[i]), known = static_cast<T>(constant_of(which, x[i])), want = wanted[which][i];
      INFO("function " << which << " of " << x[i] << " gives " << got << " and " << known << ", wanted " << want);
      CHECK(((got != got && want != want) || got == want || std::fabs(got - want) <= 2 * std::numeric_limits<T>::epsilon()));
      CHECK(((known != known && want != want) || known == want || std::fabs(known - want) <= std::numeric_limits<T>::epsilon()));
    }
  const T most = std::numeric_limits<T>::max();
  CHECK(of<P>(0, -most) == -inf);
  CHECK(of<P>(1, -most) == most);
  CHECK(of<P>(0, T(1e6f)) == 0);
}

}  // namespace

// Law: log_normal_cdf, normal_ratio and normal_excess have at most 4.5 ulp, also in both tails.
TEST_CASE("the tails of the normal distribution have mpmath's numbers", "[math]") {
  check_golden<m::packet_of<double>>("f64");
  check_golden<m::packet_of<float>>("f32");
  check_golden<double>("f64 one");
  check_golden<float>("f32 one");
  for (const golden_normal& g : of_normal)
    for (int which = 0; which < 3; ++which) {
      INFO("function " << which << " of " << g.x);
      CHECK(std::fabs(constant_of(which, g.x) - g.value[which]) <= 1e-16L * std::fabs(g.value[which]));
    }
}

TEST_CASE("the tails of the normal distribution at infinities and NaN", "[math]") {
  check_special<m::packet_of<double>>();
  check_special<m::packet_of<float>>();
  check_special<double>();
  check_special<float>();
}
