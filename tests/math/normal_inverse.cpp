// SPDX-License-Identifier: BSL-1.0
// erfinv and normal_icdf against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/normal_inverse.hpp>

#include "../catch.hpp"
#include "data_normal_inverse.hpp"
#include "ulp.hpp"

namespace {

using namespace math_test;
namespace constant = tenure::math::constant;

template <class P>
m::scalar_of<P> of(int which, m::scalar_of<P> x) {
  m::scalar_of<P> lanes[m::width<P>];
  const P p = m::set1<P>(x);
  m::store<P>(lanes, which == 0 ? m::erfinv(p) : m::normal_icdf(p));
  return lanes[m::width<P> - 1];
}

template <class P>
void check(const char* kind) {
  using T = m::scalar_of<P>;
  double worst[2] = {};
  for (const golden_inverse& g : of_inverse)
    for (int which = 0; which < 2; ++which) {
      const T got = of<P>(which, static_cast<T>(g.x));
      int exponent = 0;
      std::frexp(g.value[which], &exponent);
      const double error = static_cast<double>(std::fabs(static_cast<long double>(got) - g.value[which]) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
      INFO("function " << which << ' ' << kind << " of " << g.x << " gives " << got << ": " << error << " ulp");
      CHECK(error <= 4);
      if (which == 0) CHECK(of<P>(0, static_cast<T>(-g.x)) == -got);
      worst[which] = error > worst[which] ? error : worst[which];
    }
  std::printf("erfinv, normal_icdf %-8s %.2f %.2f ulp\n", kind, worst[0], worst[1]);
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN();
  const T x[] = {0, 1, -1, n, T(1.5), T(-1.5), inf, -inf};
  const T wanted[2][8] = {{0, inf, -inf, n, n, n, n, n}, {-inf, inf, n, n, n, n, n, n}};
  for (int which = 0; which < 2; ++which)
    for (int i = 0; i < 8; ++i) {
      const T got = of<P>(which, x[i]), known = static_cast<T>(which == 0 ? constant::erfinv(x[i]) : constant::normal_icdf(x[i])), want = wanted[which][i];
      INFO("function " << which << " of " << x[i] << " gives " << got << " and " << known << ", wanted " << want);
      CHECK((got == want || (got != got && want != want)));
      CHECK((known == want || (known != known && want != want)));
    }
  CHECK(std::signbit(of<P>(0, T(-0.0))));
  CHECK(of<P>(1, T(0.5)) == 0);
}

}  // namespace

// Law: erfinv and normal_icdf have at most 4 ulp.
TEST_CASE("erfinv and normal_icdf have mpmath's numbers", "[math]") {
  check<m::packet_of<double>>("f64");
  check<m::packet_of<float>>("f32");
  check<double>("f64 one");
  check<float>("f32 one");
  CHECK(ulp_error<double>(of<m::packet_of<double>>(1, 5e-324), constant::normal_icdf(5e-324)) <= 2);
  for (const golden_inverse& g : of_inverse)
    for (int which = 0; which < 2; ++which) {
      INFO("constant function " << which << " of " << g.x);
      CHECK(std::fabs((which == 0 ? constant::erfinv(g.x) : constant::normal_icdf(g.x)) - g.value[which]) <= 1e-16L * std::fabs(g.value[which]));
    }
}
