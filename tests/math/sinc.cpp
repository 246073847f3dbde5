// SPDX-License-Identifier: BSL-1.0
// sinc and its derivatives, and erfcx, against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_gamma.hpp>
#include <tenure/math/normal_tail.hpp>
#include <tenure/math/sinc.hpp>

#include "../catch.hpp"
#include "data_erfcx.hpp"
#include "data_sinc.hpp"
#include "golden.hpp"

namespace {

using namespace math_test;
namespace constant = tenure::math::constant;

constexpr auto function = [](int which) {
  return [which](auto x) { return which == 0 ? m::sinc(x) : which == 1 ? m::sinc_slope<1>(x) : which == 2 ? m::sinc_slope<2>(x) : m::erfcx(x); };
};

// What a derivative reaches between its zeros.
long double between_zeros(int which, long double x) { return which == 0 || (which == 1 && x < 1) ? 0 : (which == 1 ? 1 : 3.14159265358979323846L) / std::max(x, 1.0L); }

template <class P>
void check_sinc(const char* kind) {
  using T = m::scalar_of<P>;
  double worst[3] = {};
  for (const golden_sinc& g : of_sinc)
    for (int which = 0; which < 3; ++which) {
      const long double least = between_zeros(which, g.x);
      const T got = of_lane<P>(function(which), g.x);
      const double error = error_in_ulp<T>(got, g.value[which], least);
      INFO("function " << which << ' ' << kind << " of " << g.x << " gives " << got << ": " << error << " ulp");
      CHECK(error <= (which == 0 ? 3 : 5));
      CHECK(of_lane<P>(function(which), -g.x) == (which == 1 ? -got : got));
      worst[which] = std::max(worst[which], error);
    }
  std::printf("sinc and its slopes %-8s %.2f %.2f %.2f ulp\n", kind, worst[0], worst[1], worst[2]);
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN(), most = std::numeric_limits<T>::max();
  for (int which = 0; which < 3; ++which) {
    for (T x : {inf, -inf, n}) CHECK(std::isnan(of_lane<P>(function(which), x)));
    CHECK(std::fabs(of_lane<P>(function(which), most)) <= 2 * (std::numeric_limits<T>::min)());
    CHECK(error_in_ulp<T>(of_lane<P>(function(which), std::numeric_limits<T>::denorm_min()), which == 0 ? 1 : which == 1 ? 0 : -3.28986813369645287294L, 1e-30L) <= 3);
    CHECK(lanes_are_apart<P>(function(which), {0.3, -7.25, 0, 1, -0.875, 123.5}));
  }
  for (T x : {T(1), T(-1), T(2), T(77)}) CHECK(of_lane<P>(function(0), x) == 0);
}

template <class P>
void check_erfcx(const char* kind) {
  using T = m::scalar_of<P>;
  double worst = 0;
  for (const golden_erfcx& g : of_erfcx) {
    const T got = of_lane<P>(function(3), g.x);
    const double error = error_in_ulp<T>(got, g.value[0]);
    INFO("erfcx " << kind << " of " << g.x << " gives " << got << ": " << error << " ulp");
    CHECK(error <= 4);
    worst = std::max(worst, error);
  }
  std::printf("erfcx %-8s %.2f ulp\n", kind, worst);
  const T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
  CHECK(of_lane<P>(function(3), inf) == 0);
  CHECK(of_lane<P>(function(3), -inf) == inf);
  CHECK(of_lane<P>(function(3), -most) == inf);
  CHECK(of_lane<P>(function(3), T(0)) == 1);
  CHECK(std::isnan(of_lane<P>(function(3), std::numeric_limits<T>::quiet_NaN())));
  CHECK(error_in_ulp<T>(of_lane<P>(function(3), most), 0.564189583547756286948L / most) <= 1);
  CHECK(lanes_are_apart<P>(function(3), {0.3, -3.25, 0, 1, -0.875, 123.5}));
}

}  // namespace

// Law: sinc has at most 3 ulp, also near its zeros, and is 1 at 0.
TEST_CASE("sinc and its slopes have mpmath's numbers", "[math]") {
  check_sinc<m::packet_of<double>>("f64");
  check_sinc<m::packet_of<float>>("f32");
  check_sinc<double>("f64 one");
  check_sinc<float>("f32 one");
  for (const golden_sinc& g : of_sinc)
    for (int which = 0; which < 3; ++which) {
      INFO("constant function " << which << " of " << g.x);
      CHECK(std::fabs(constant::sinc_slope(which, g.x) - g.value[which]) <= 1e-16L * std::max(std::fabs(g.value[which]), between_zeros(which, g.x)));
    }
}

TEST_CASE("erfcx has mpmath's numbers", "[math]") {
  check_erfcx<m::packet_of<double>>("f64");
  check_erfcx<m::packet_of<float>>("f32");
  check_erfcx<double>("f64 one");
  check_erfcx<float>("f32 one");
  for (const golden_erfcx& g : of_erfcx) {
    INFO("constant erfcx of " << g.x);
    CHECK(std::fabs(constant::erfcx(g.x) - g.value[0]) <= 2e-16L * g.value[0]);
  }
}
