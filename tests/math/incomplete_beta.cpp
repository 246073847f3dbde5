// SPDX-License-Identifier: BSL-1.0
// The incomplete beta function, its derivatives by a and b and the density against the numbers of mpmath, at every width, and their special values.
#include <tenure/math/constant_beta.hpp>
#include <tenure/math/incomplete_beta.hpp>

#include "../catch.hpp"
#include "data_beta_ratio.hpp"
#include "golden.hpp"

namespace {

using namespace math_test;

constexpr auto function = [](int which) {
  return [which](auto a, auto b, auto x) { return which == 0 ? m::betainc(a, b, x) : which == 1 ? m::betainc_slope<0>(a, b, x) : which == 2 ? m::betainc_slope<1>(a, b, x) : m::beta_density(a, b, x); };
};
constexpr const char* names[] = {"betainc", "betainc by a", "betainc by b", "beta density"};

template <class P>
void check(const char* kind) {
  using T = m::scalar_of<P>;
  for (int which = 0; which < 4; ++which) {
    double worst = 0, sum = 0;
    golden_beta_ratio at{};
    int count = 0;
    for (const golden_beta_ratio& g : of_beta_ratio) {
      if (static_cast<double>(static_cast<T>(g.x)) != g.x || std::fabs(g.value[0]) < static_cast<long double>(std::numeric_limits<T>::min())) continue;
      const double error = error_in_ulp<T>(of_lane<P>(function(which), g.a, g.b, g.x), g.value[which], which == 3 ? 0 : g.b < 1 && g.x > 0.9 ? 1 : which == 0 ? 0 : g.value[0] / 8);
      sum += error, ++count;
      if (!(error <= worst)) worst = error, at = g;
    }
    std::printf("%-14s %-8s %.2f ulp at %.9g, %.9g, %.9g; mean %.2f of %d\n", names[which], kind, worst, at.a, at.b, at.x, sum / count, count);
    INFO(names[which] << ' ' << kind << " at " << at.a << ", " << at.b << ", " << at.x << ": " << worst << " ulp");
    CHECK(worst <= (which == 1 || which == 2 ? 48 : 16));
  }
}

template <class P>
void check_special() {
  using T = m::scalar_of<P>;
  const T inf = std::numeric_limits<T>::infinity(), n = std::numeric_limits<T>::quiet_NaN(), most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  const struct {
    T a, b, x, wanted[4];
  } cases[] = {{2, 3, 0, {0, 0, 0, 0}},         {2, 3, 1, {1, 0, 0, 0}},      {0.5, 1, 0, {0, 0, 0, inf}},  {1, 3, 0, {0, 0, 0, 3}},        {3, 1, 1, {1, 0, 0, 3}},
               {0, 2, 0.5, {1, 0, 0, 0}},       {2, 0, 0.5, {0, 0, 0, 0}},    {0, 0, 0.5, {n, n, n, n}},    {inf, 2, 0.5, {0, 0, 0, 0}},    {2, inf, 0.5, {1, 0, 0, 0}},
               {inf, inf, 0.5, {n, n, n, n}},   {-1, 2, 0.5, {n, n, n, n}},   {2, -1, 0.5, {n, n, n, n}},   {2, 2, T(1.5), {n, n, n, n}},   {2, 2, -1, {n, n, n, n}},
               {n, 2, 0.5, {n, n, n, n}},       {2, n, 0.5, {n, n, n, n}},    {2, 2, n, {n, n, n, n}},      {most, 2, 0.5, {0, 0, 0, 0}},   {2, most, 0.5, {1, 0, 0, 0}},
               {1, 1, least, {least, 0, 0, 1}}, {1, 1, 0.25, {0.25, T(-0.34657359027997265471L), T(0.21576155433883569558L), 1}}};
  for (const auto& c : cases)
    for (int which = 0; which < 4; ++which) {
      const T got = of_lane<P>(function(which), c.a, c.b, c.x), want = c.wanted[which];
      INFO(names[which] << " of " << c.a << ", " << c.b << ", " << c.x << " gives " << got << ", wanted " << want);
      CHECK((is_same(got, want) || std::fabs(got - want) <= 16 * std::numeric_limits<T>::epsilon() * std::fabs(want) || std::fabs(got - want) <= 2 * least / std::numeric_limits<T>::epsilon()));
    }
  for (int which = 0; which < 4; ++which)
    CHECK(lanes_are_apart<P>(
        [which](auto v) {
          const auto number = [](double k) { return m::set1<decltype(v)>(static_cast<m::scalar_of<decltype(v)>>(k)); };
          return function(which)(v, number(3), number(0.375));
        },
        {0.3, 7.25, 0, 30, 2.5, 123.5}));
}

}  // namespace

// Law: rounded to double, betainc is within 8 ulp for a and b up to 10^3 where it is no difference from 1.
TEST_CASE("the incomplete beta function of constants is within 8 ulp", "[math]") {
  namespace constant = tenure::math::constant;
  for (const golden_beta_ratio& g : of_beta_ratio) {
    const long double got[] = {constant::betainc(g.a, g.b, g.x), constant::betainc_slope(0, g.a, g.b, g.x), constant::betainc_slope(1, g.a, g.b, g.x), constant::beta_density(g.a, g.b, g.x)};
    for (int which = 0; which < 4; ++which) {
      INFO(names[which] << " of " << g.a << ", " << g.b << ", " << g.x << " gives " << got[which] << ", wanted " << g.value[which]);
      CHECK(error_in_ulp<double>(static_cast<double>(got[which]), g.value[which], which == 3 ? 0 : g.b < 1 && g.x > 0.9 ? 1 : which == 0 ? 0 : g.value[0]) <= 8);
    }
  }
}

// Law: betainc and the density have at most 16 ulp for a and b up to 1e5, and the derivatives by a and b 48 of the larger of |derivative| and I / 8.
TEST_CASE("the incomplete beta function has mpmath's numbers", "[math]") {
  check<m::packet_of<double>>("f64");
  check<m::packet_of<float>>("f32");
  check<double>("f64 one");
  check<float>("f32 one");
}

TEST_CASE("the incomplete beta function at the ends of its domain", "[math]") {
  check_special<m::packet_of<double>>();
  check_special<m::packet_of<float>>();
  check_special<double>();
  check_special<float>();
}
