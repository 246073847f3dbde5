// SPDX-License-Identifier: BSL-1.0
// i0e and i1e against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/bessel.hpp>
#include <tenure/math/constant_gamma.hpp>

#include "../catch.hpp"
#include "data_bessel.hpp"
#include "golden.hpp"

namespace {

using namespace math_test;
namespace constant = tenure::math::constant;

constexpr auto function = [](int which) {
  return [which](auto x) { return which == 0 ? m::i0e(x) : m::i1e(x); };
};

template <class P>
void check(const char* kind) {
  using T = m::scalar_of<P>;
  double worst[2] = {};
  for (const golden_bessel& g : of_bessel)
    for (int which = 0; which < 2; ++which) {
      const T got = of_lane<P>(function(which), g.x);
      const double error = error_in_ulp<T>(got, g.value[which]);
      INFO("function " << which << ' ' << kind << " of " << g.x << " gives " << got << ": " << error << " ulp");
      CHECK(error <= 4);
      CHECK(of_lane<P>(function(which), -g.x) == (which == 0 ? got : -got));
      worst[which] = std::max(worst[which], error);
    }
  std::printf("i0e, i1e %-8s %.2f %.2f ulp\n", kind, worst[0], worst[1]);
  const T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  for (int which = 0; which < 2; ++which) {
    CHECK(of_lane<P>(function(which), inf) == 0);
    CHECK(of_lane<P>(function(which), -inf) == 0);
    CHECK(std::isnan(of_lane<P>(function(which), std::numeric_limits<T>::quiet_NaN())));
    CHECK(error_in_ulp<T>(of_lane<P>(function(which), most), constant::scaled_bessel(which, most)) <= 3);
    CHECK(lanes_are_apart<P>(function(which), {0.3, -7.25, 0, 13, -0.875, 123.5}));
  }
  CHECK(of_lane<P>(function(0), T(0)) == 1);
  CHECK(of_lane<P>(function(0), least) == 1);
  CHECK(std::signbit(of_lane<P>(function(1), T(-0.0))));
  CHECK(of_lane<P>(function(1), 4 * least) == 2 * least);
}

}  // namespace

// Law: i0e and i1e have at most 4 ulp; i0e is even and i1e odd, and both are 0 at the infinities.
TEST_CASE("i0e and i1e have mpmath's numbers", "[math]") {
  check<m::packet_of<double>>("f64");
  check<m::packet_of<float>>("f32");
  check<double>("f64 one");
  check<float>("f32 one");
  for (const golden_bessel& g : of_bessel)
    for (int which = 0; which < 2; ++which) {
      INFO("constant function " << which << " of " << g.x);
      CHECK(std::fabs(constant::scaled_bessel(which, g.x) - g.value[which]) <= 1e-16L * g.value[which]);
    }
}
