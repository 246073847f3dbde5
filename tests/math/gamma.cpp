// SPDX-License-Identifier: BSL-1.0
// lgamma, digamma, trigamma and tetragamma against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/gamma.hpp>

#include <algorithm>

#include "../catch.hpp"
#include "data_gamma.hpp"
#include "ulp.hpp"

namespace {

using namespace math_test;
namespace constant = tenure::math::constant;

constexpr const char* names[] = {"lgamma", "digamma", "trigamma", "tetragamma"};

template <class P>
P function(int which, P x) {
  return which == 0 ? m::lgamma(x) : which == 1 ? m::digamma(x) : which == 2 ? m::trigamma(x) : m::tetragamma(x);
}

template <class P>
m::scalar_of<P> of(int which, m::scalar_of<P> x) {
  m::scalar_of<P> lanes[m::width<P>];
  m::store<P>(lanes, function(which, m::set1<P>(x)));
  return lanes[m::width<P> - 1];
}

// What an error is measured by where the result may be 0.
long double least_size(int which, long double x) {
  const long double of_negative[] = {std::max(1.0L, x < 0 ? std::lgamma(-x) : 0), std::max(1.0L, x < 0 ? std::log(1 - x) : 0), 0, 32};
  return x < 0 ? of_negative[which] : 0;
}

template <class P>
void check_golden(const char* kind) {
  using T = m::scalar_of<P>;
  for (int which = 0; which < 4; ++which) {
    const auto& of_width = [&](bool negative) {
      double worst = 0, at = 0;
      for (const golden_gamma& g : of_gamma) {
        if ((g.x < 0) != negative) continue;
        const T got = of<P>(which, static_cast<T>(g.x));
        if (std::isinf(static_cast<T>(g.value[which])) && got == static_cast<T>(g.value[which])) continue;
        int exponent = 0;
        std::frexp(std::max(std::fabs(g.value[which]), least_size(which, g.x)), &exponent);
        exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
        const double error = static_cast<double>(std::fabs(static_cast<long double>(got) - g.value[which]) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
        if (!(error <= worst)) worst = error, at = g.x;
      }
      std::printf("%-10s %-8s %s %.2f ulp at %.9g\n", names[which], kind, negative ? "x < 0" : "x > 0", worst, at);
      INFO(names[which] << ' ' << kind << " at " << at << ": " << worst << " ulp");
      CHECK(worst <= (which == 3 ? 4.5 : which == 2 && negative ? 5.0 : 4.0));
    };
    of_width(false);
    of_width(true);
  }
}

template <class P>
void check_special() {
  using T = m::scalar_of<P>;
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN(), most = std::numeric_limits<T>::max();
  const T x[] = {T(0), T(-0.0), T(1), T(2), T(-1), T(-2), T(-5), inf, -inf, n, -most, T(-0x1p60)};
  const T wanted[4][12] = {{inf, inf, 0, 0, inf, inf, inf, inf, inf, n, inf, inf},
                           {-inf, inf, T(-0.57721566490153286061L), T(0.42278433509846713939L), n, n, n, inf, n, n, n, n},
                           {inf, inf, T(1.64493406684822643647L), T(0.64493406684822643647L), inf, inf, inf, 0, n, n, inf, inf},
                           {-inf, inf, T(-2.40411380631918857080L), T(-0.40411380631918857080L), n, n, n, 0, n, n, n, n}};
  for (int which = 0; which < 4; ++which)
    for (int i = 0; i < 12; ++i) {
      const T got = of<P>(which, x[i]), want = wanted[which][i];
      INFO(names[which] << " of " << x[i] << " gives " << got << ", wanted " << want);
      CHECK(((got != got && want != want) || got == want || std::fabs(got - want) <= 2 * std::numeric_limits<T>::epsilon() * std::fabs(want)));
      const T known = static_cast<T>(which == 0 ? constant::lgamma(x[i]) : constant::polygamma(which - 1, x[i]));
      INFO("constant: " << known);
      CHECK(((known != known && want != want) || known == want || std::fabs(known - want) <= std::numeric_limits<T>::epsilon() * std::fabs(want)));
    }
  // Near a pole, tiny and huge.
  const T tiny = std::numeric_limits<T>::denorm_min(), small = std::numeric_limits<T>::min();
  CHECK(ulp_error<T>(of<P>(0, tiny), -std::log(static_cast<wider<T>>(tiny))) <= 2);
  CHECK(ulp_error<T>(of<P>(0, -tiny), -std::log(static_cast<wider<T>>(tiny))) <= 2);
  CHECK(of<P>(1, tiny) == -inf);
  CHECK(of<P>(1, -tiny) == inf);
  CHECK(ulp_error<T>(of<P>(1, small), -1 / static_cast<wider<T>>(small)) <= 2);
  CHECK(ulp_error<T>(of<P>(1, -small), 1 / static_cast<wider<T>>(small)) <= 2);
  CHECK(of<P>(2, small) == inf);
  CHECK(of<P>(2, -small) == inf);
  CHECK(of<P>(3, -small) == inf);
  CHECK(of<P>(0, most) == inf);
  CHECK(ulp_error<T>(of<P>(1, most), std::log(static_cast<wider<T>>(most))) <= 2);
  CHECK(ulp_error<T>(of<P>(2, most), 1 / static_cast<wider<T>>(most)) <= 2);
  // What a lane gives does not depend on its neighbours.
  T lanes[m::width<P>];
  for (int k = 0; k < m::width<P>; ++k) lanes[k] = T(k % 3 == 0 ? -0.31 : 0.7) * T(k + 1);
  for (int which = 0; which < 4; ++which) {
    T together[m::width<P>];
    m::store<P>(together, function(which, m::load<P>(lanes)));
    for (int k = 0; k < m::width<P>; ++k) CHECK(together[k] == of<P>(which, lanes[k]));
  }
}

}  // namespace

// Law: for x > 0 at most 4 ulp, also near the zeros of lgamma and digamma; without fma 4.5 for tetragamma.
TEST_CASE("lgamma and its derivatives have mpmath's numbers", "[math]") {
  check_golden<m::packet_of<double>>("f64");
  check_golden<m::packet_of<float>>("f32");
  check_golden<double>("f64 one");
  check_golden<float>("f32 one");
}

TEST_CASE("lgamma and its derivatives at poles, infinities and NaN", "[math]") {
  check_special<m::packet_of<double>>();
  check_special<m::packet_of<float>>();
  check_special<double>();
  check_special<float>();
}

// Law: for x > 0 lgamma, rounded to double, is within 1 ulp.
TEST_CASE("lgamma and its derivatives of constants are within 1 ulp", "[math]") {
  static_assert(static_cast<double>(constant::digamma(1)) == -0.57721566490153286 && static_cast<double>(constant::trigamma(1)) == 1.6449340668482264);
  for (const golden_gamma& g : of_gamma)
    for (int which = 0; which < 4; ++which) {
      const long double got = which == 0 ? constant::lgamma(g.x) : constant::polygamma(which - 1, g.x), want = g.value[which];
      INFO(names[which] << " of " << g.x << ": " << static_cast<double>(got) << ", wanted " << static_cast<double>(want));
      CHECK(std::fabs(got - want) <= (g.x > 0 && which == 0 ? 1e-16L * std::fabs(want) : 1e-17L * std::max({std::fabs(want), least_size(which, g.x), which == 1 ? 1.0L : 0.0L})));
    }
}
