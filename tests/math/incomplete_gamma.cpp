// SPDX-License-Identifier: BSL-1.0
// The incomplete gamma functions, their derivative by a and the density against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_incomplete.hpp>
#include <tenure/math/incomplete_gamma.hpp>

#include "../catch.hpp"
#include "data_gamma_ratio.hpp"
#include "golden.hpp"

namespace {

using namespace math_test;

constexpr auto function = [](int which) {
  return [which](auto a, auto x) { return which == 0 ? m::gammainc(a, x) : which == 1 ? m::gammaincc(a, x) : which == 2 ? m::gammainc_slope(a, x) : m::gamma_density(a, x); };
};
constexpr const char* names[] = {"gammainc", "gammaincc", "gammainc by a", "gamma density"};

template <class P>
void check(const char* kind) {
  using T = m::scalar_of<P>;
  for (int which = 0; which < 4; ++which) {
    double worst = 0, sum = 0;
    golden_gamma_ratio at{};
    for (const golden_gamma_ratio& g : of_gamma_ratio) {
      if (static_cast<double>(static_cast<T>(g.a)) != g.a) continue;
      const double error = error_in_ulp<T>(of_lane<P>(function(which), g.a, g.x), g.value[which]);
      sum += error;
      if (!(error <= worst)) worst = error, at = g;
    }
    std::printf("%-14s %-8s %.2f ulp at %.9g, %.9g; mean %.2f\n", names[which], kind, worst, at.a, at.x, sum / std::size(of_gamma_ratio));
    INFO(names[which] << ' ' << kind << " at " << at.a << ", " << at.x << ": " << worst << " ulp");
    CHECK(worst <= (which == 2 ? 16 : which == 3 ? 4 : 8));
  }
}

template <class P>
void check_special() {
  using T = m::scalar_of<P>;
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN(), most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  const T middle = static_cast<T>(0.398942280401432677939L / std::sqrt(static_cast<long double>(most)));
  const T e1 = T(-0.21938393439552027368L);  // -E1(1)
  const struct {
    T a, x, wanted[4];
  } cases[] = {{0, 0, {n, n, n, n}},         {0, 1, {1, 0, e1, 0}},       {2, 0, {0, 1, 0, 0}},      {2, inf, {1, 0, 0, 0}},   {inf, 1, {0, 1, 0, 0}},
               {inf, inf, {n, n, n, n}},     {-1, 1, {n, n, n, n}},       {2, -1, {n, n, n, n}},     {n, 1, {n, n, n, n}},     {1, n, {n, n, n, n}},
               {0.5, 0, {0, 1, 0, inf}},     {1, 0, {0, 1, 0, 1}},        {0, inf, {1, 0, 0, 0}},    {most, 1, {0, 1, 0, 0}},  {most, most, {T(0.5), T(0.5), -middle, middle}},
               {most, most / 2, {0, 1, 0, 0}}, {T(1e6f), 1, {0, 1, 0, 0}}, {T(1e6f), most, {1, 0, 0, 0}}, {least, 1, {1, 0, e1, 0}}, {T(0.5), least, {0, 1, 0, T(0.564189583547756286948L) / std::sqrt(least)}}};
  for (const auto& c : cases)
    for (int which = 0; which < 4; ++which) {
      const T got = of_lane<P>(function(which), c.a, c.x), want = c.wanted[which];
      INFO(names[which] << " of " << c.a << ", " << c.x << " gives " << got << ", wanted " << want);
      const T near_0 = c.x == least ? std::sqrt(least) * 1000 : 2 * least / std::numeric_limits<T>::epsilon();
      CHECK((is_same(got, want) || std::fabs(got - want) <= 16 * std::numeric_limits<T>::epsilon() * std::fabs(want) || std::fabs(got - want) <= near_0));
    }
  for (int which = 0; which < 4; ++which) {
    CHECK(lanes_are_apart<P>([which](auto v) { return function(which)(v, m::set1<decltype(v)>(m::scalar_of<decltype(v)>(3))); }, {0.3, 7.25, 0, 30, 2.5, 123.5}));
    CHECK(lanes_are_apart<P>([which](auto v) { return function(which)(m::set1<decltype(v)>(m::scalar_of<decltype(v)>(25)), v); }, {24, 7.25, 0, 30, 80, -1}));
  }
}

}  // namespace

// Law: gammainc and gammaincc have at most 8 ulp, the density 4, and their derivative by a 16.
TEST_CASE("the incomplete gamma functions have mpmath's numbers", "[math]") {
  check<m::packet_of<double>>("f64");
  check<m::packet_of<float>>("f32");
  check<double>("f64 one");
  check<float>("f32 one");
}

// Law: rounded to double, gammainc, gammaincc and their derivatives are within 4 ulp for a up to 10^4.
TEST_CASE("the incomplete gamma functions of constants are within 4 ulp", "[math]") {
  namespace constant = tenure::math::constant;
  for (const golden_gamma_ratio& g : of_gamma_ratio) {
    if (g.a > 1e4) continue;
    const long double got[] = {constant::gammainc(g.a, g.x), constant::gammaincc(g.a, g.x), constant::gammainc_slope(g.a, g.x), constant::gamma_density(g.a, g.x)};
    for (int which = 0; which < 4; ++which) {
      INFO(names[which] << " of " << g.a << ", " << g.x << " gives " << got[which] << ", wanted " << g.value[which]);
      CHECK(error_in_ulp<double>(static_cast<double>(got[which]), g.value[which]) <= 4);
    }
  }
}

TEST_CASE("the incomplete gamma functions at the ends of their domains", "[math]") {
  check_special<m::packet_of<double>>();
  check_special<m::packet_of<float>>();
  check_special<double>();
  check_special<float>();
}
