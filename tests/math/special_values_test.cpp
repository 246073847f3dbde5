// SPDX-License-Identifier: BSL-1.0
// Infinities, NaN, signed zeros, the last finite and the last nonzero results: bit for bit what the C library says.
#include "accuracy.hpp"

namespace {

using namespace math_test;

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class P, class F>
m::scalar_of<P> lane(F f, m::scalar_of<P> x, int k) {
  using T = m::scalar_of<P>;
  T in[m::width<P>], out[m::width<P>];
  for (T& v : in) v = T(0.75);
  in[k] = x;
  m::store<P>(out, f(m::load<P>(in)));
  for (int i = 0; i < m::width<P>; ++i) {
    T single[m::width<P>];
    m::store<P>(single, f(m::set1<P>(in[i])));
    INFO("lane " << i << " of f(" << in[i] << "): " << out[i] << ", alone " << single[0]);
    CHECK(same(out[i], single[0]));  // what a lane gives does not depend on its neighbours
  }
  return out[k];
}

template <class P>
void check_specials() {
  using T = m::scalar_of<P>;
  using W = wider<T>;
  using limits = std::numeric_limits<T>;
  const T inf = limits::infinity(), nan = limits::quiet_NaN();
  each_function<P>([&](const char* name, auto f, auto truth, double, double) {
    INFO(name);
    int k = 0;
    for (T x : {T(0), T(-0.0), inf, -inf, nan, T(1), T(-1), limits::max(), -limits::max()}) {
      const T got = lane<P>(f, x, k++ % m::width<P>);
      const T want = static_cast<T>(truth(static_cast<W>(x)));
      INFO("x = " << x << ", got " << got << ", want " << want);
      const bool exact = std::isnan(want) || std::isinf(want) || want == T(0);
      if (exact) CHECK(same(got, want));
      else CHECK(ulp_error<T>(got, truth(static_cast<W>(x))) <= 2);
    }
  });
}

template <class P>
void check_pow_specials() {
  using T = m::scalar_of<P>;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T cases[] = {T(0), T(-0.0), T(1), T(-1), T(2), T(-2), T(0.5), T(-0.5), T(3), T(-3), T(1e30f), T(-1e30f), inf, -inf, nan, T(2.5), T(1e9f)};
  for (T x : cases)
    for (T y : cases) {
      T got[m::width<P>];
      m::store<P>(got, m::pow(m::set1<P>(x), m::set1<P>(y)));
      const T want = std::pow(x, y);
      INFO("pow(" << x << ", " << y << ") = " << got[0] << ", want " << want);
      if (!same(got[0], want)) CHECK(ulp_error<T>(got[0], std::pow(wider<T>(x), wider<T>(y))) <= 2);
      m::store<P>(got, m::atan2(m::set1<P>(x), m::set1<P>(y)));
      const T angle = std::atan2(x, y);
      INFO("atan2(" << x << ", " << y << ") = " << got[0] << ", want " << angle);
      if (same(got[0], angle)) continue;
      CHECK(ulp_error<T>(got[0], std::atan2(wider<T>(x), wider<T>(y))) <= 2);
      CHECK(std::signbit(got[0]) == std::signbit(angle));
    }
}

}  // namespace

TEST_CASE("special values are the C library's", "[math]") {
  check_specials<m::packet_of<double>>();
  check_specials<m::packet_of<float>>();
  check_specials<double>();
  check_specials<float>();
}

TEST_CASE("pow and atan2 keep C's special cases", "[math]") {
  check_pow_specials<m::packet_of<double>>();
  check_pow_specials<m::packet_of<float>>();
  check_pow_specials<double>();
  check_pow_specials<float>();
}

// Law: sigmoid follows exp down to the last subnormal.
TEST_CASE("sigmoid and softplus are exp in the far negative tail", "[math]") {
  for (double x = -40; x > -745; x -= 0.37) {
    CHECK(ulp_error<double>(m::sigmoid(x), std::exp(static_cast<long double>(x))) <= 2);
    CHECK(ulp_error<double>(m::softplus(x), std::exp(static_cast<long double>(x))) <= 2);
  }
}
