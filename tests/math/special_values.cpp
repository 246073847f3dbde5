// SPDX-License-Identifier: BSL-1.0
// Infinities, NaN, signed zeros, the last finite and the last nonzero results: bit for bit what the C library says.
#include <algorithm>

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
    for (T x : {T(0), T(-0.0), inf, -inf, nan, T(1), T(-1), T(1e6f), T(-1e6f), T(1e30f), T(-1e30f), limits::max(), -limits::max()}) {
      const T got = lane<P>(f, x, k++ % m::width<P>);
      const T want = static_cast<T>(truth(static_cast<W>(x)));
      INFO("x = " << x << ", got " << got << ", want " << want);
      // Limits and saturated values are exact: 0, 1, 2, pi and its half, and whatever stands at an infinity.
      constexpr T exact_values[] = {T(0), T(1), T(2), T(1.57079632679489661923L), T(3.14159265358979323846L)};
      const bool exact = std::isnan(want) || std::isinf(want) || std::isinf(x) || std::count(std::begin(exact_values), std::end(exact_values), std::fabs(want)) != 0;
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
      CHECK(!(std::isinf(x) || std::isinf(y) || x == T(0) || y == T(0)));  // multiples of pi/4
      CHECK(ulp_error<T>(got[0], std::atan2(wider<T>(x), wider<T>(y))) <= 2);
      CHECK(std::signbit(got[0]) == std::signbit(angle));
    }
}

// floor(x / y) of exact numbers: x = m 2^e and y = n 2^e with integers below 2^53.
template <class T>
T exact_floor_divide(T x, T y) {
  const T r = std::fmod(x, y), down = r != T(0) && (r < T(0)) != (y < T(0)) ? T(1) : T(0);
  const wider<T> quotient = (static_cast<wider<T>>(x) - static_cast<wider<T>>(r)) / static_cast<wider<T>>(y);
  return static_cast<T>(std::nearbyint(quotient) - static_cast<wider<T>>(down));
}

template <class P>
void check_remainders() {
  using T = m::scalar_of<P>;
  using limits = std::numeric_limits<T>;
  constexpr int w = m::width<P>;
  std::vector<T> xs, ys;
  const T inf = limits::infinity(), nan = limits::quiet_NaN();
  const T special[] = {T(0), T(-0.0), T(1), T(-1), T(0.1), T(-2.5), T(3), T(7), T(1e30f), limits::max(), -limits::max(), limits::min(), limits::denorm_min(), inf, -inf, nan};
  for (const T x : special)
    for (const T y : special) xs.push_back(x), ys.push_back(y);
  random_bits bits{17};
  const std::vector<T> any = samples<T>(-1000, 1000, 4000), other = samples<T>(-3, 3, 4001);
  for (std::size_t i = 0; i < any.size(); ++i) xs.push_back(any[i]), ys.push_back(other[i]);
  for (int i = 0; i < 4000; ++i) {  // multiples, and their neighbours
    const T y = static_cast<T>((bits.unit() - 0.5) * 10), x = y * static_cast<T>(bits() % 2000);
    for (const T near : {x, std::nextafter(x, inf), std::nextafter(x, -inf)}) xs.push_back(near), ys.push_back(y);
  }
  for (std::size_t i = 0; i + w <= xs.size(); i += w) {
    T r[w], down[w], quotient[w];
    const P x = m::load<P>(xs.data() + i), y = m::load<P>(ys.data() + i);
    m::store<P>(r, m::fmod(x, y));
    m::store<P>(down, m::remainder(x, y));
    m::store<P>(quotient, m::floor_divide(x, y));
    for (int k = 0; k < w; ++k) {
      const T a = xs[i + k], b = ys[i + k], exact = std::fmod(a, b);
      const bool corrected = exact != T(0) && (exact < T(0)) != (b < T(0));
      INFO(a << " and " << b << ": fmod " << r[k] << ", " << exact << "; remainder " << down[k] << "; floor_divide " << quotient[k]);
      bool right = same(r[k], exact) && same(down[k], corrected ? exact + b : exact);
      if (b == T(0)) right = right && same(quotient[k], a / b);
      else if (std::isnan(exact)) right = right && std::isnan(quotient[k]);
      else if (std::fabs(a) < T(0x1p20f) && std::fabs(b) > T(0x1p-3f)) right = right && quotient[k] == exact_floor_divide(a, b) && std::signbit(quotient[k]) == (std::signbit(a) != std::signbit(b));
      else right = right && !(quotient[k] != std::floor(quotient[k]));
      if (!right) CHECK(right);
    }
  }
}

}  // namespace

// Law: at most 2 ulp, also where erfc is tiny or subnormal; erf is odd, and erf(-0) is -0; +-1 at the infinities, and 0 and 2 for erfc.
// Law: at most 2 ulp; tanh and sinh are odd and keep -0, cosh is even; infinities and NaN as in the C library.
// Law: at most 2 ulp; asinh and atanh are odd and keep -0; acosh is NaN below 1, atanh beyond [-1, 1] and infinite at +-1.
// Law: at most 2 ulp; asin and atan are odd and keep -0; beyond [-1, 1] asin and acos are NaN; for zeros and infinities atan2 gives the results of
// the C library.
// Law: at most 2 ulp over the whole domain, subnormals included; log1p(-0) is -0, and log1p keeps a small relative error near 0; log(0) is -inf, and
// log of a negative number is NaN.
// Law: at most 3 ulp, and 5 for normal_cdf, also for tiny and subnormal results.
// Law: at most 5 ulp, also where it is tiny or subnormal; even; 0 at the infinities.
TEST_CASE("special values are the C library's", "[math]") {
  check_specials<m::packet_of<double>>();
  check_specials<m::packet_of<float>>();
  check_specials<double>();
  check_specials<float>();
}

// Law: pow has at most 2 ulp over its whole domain, with the special cases of C (pow(x, 0) = pow(1, y) = 1; an odd integer y keeps the sign of x).
TEST_CASE("pow and atan2 keep C's special cases", "[math]") {
  check_pow_specials<m::packet_of<double>>();
  check_pow_specials<m::packet_of<float>>();
  check_pow_specials<double>();
  check_pow_specials<float>();
}

// The doubles and floats that come closest to multiples of pi/2 (W. Kahan; J.-M. Muller, Elementary Functions, chapter 11), and multiples of
// pi rounded to a double. All bits of the reduction count there.
// Law: at most 2 ulp for every finite x, also for huge ones; sin and tan are odd and keep -0; infinities give NaN.
TEST_CASE("sin, cos and tan of large numbers close to multiples of pi/2", "[math]") {
  const auto check = [](const char* name, double got, long double truth, double x) {
    INFO(name << "(" << x << ") = " << got << ", want " << truth);
    CHECK(ulp_error<double>(got, truth) <= 2);
  };
  std::vector<double> hard{std::ldexp(6381956970095103.0, 797), 1.6367173e7 * 4722366482869645213696.0};
  for (int i = 17; i < 1000; i += 7) hard.push_back(std::nearbyint(std::ldexp(1.0, i % 40 + 20)) * 3.14159265358979323846L), hard.push_back(std::ldexp(2.718281828459045, i));
  for (const double x : hard) {
    const long double exact = x;
    check("sin", m::sin(x), std::sin(exact), x);
    check("cos", m::cos(x), std::cos(exact), x);
    check("tan", m::tan(x), std::tan(exact), x);
  }
  check("cos", m::cos(hard[0]), -4.68716592425462761112e-19L, hard[0]);
}

// Law: at most 2 ulp over the whole domain, also for subnormal results; expm1(-0) is -0, and expm1 keeps a small relative error near 0; sigmoid(x) +
// sigmoid(-x) = 1, and sigmoid(x) ~ exp(x) down to the smallest subnormal.
TEST_CASE("sigmoid and softplus are exp in the far negative tail", "[math]") {
  for (double x = -40; x > -745; x -= 0.37) {
    CHECK(ulp_error<double>(m::sigmoid(x), std::exp(static_cast<long double>(x))) <= 2);
    CHECK(ulp_error<double>(m::softplus(x), std::exp(static_cast<long double>(x))) <= 2);
  }
}

// Law: fmod is exact, as that of C; remainder(x, y) is fmod(x, y), plus y where its sign is not the sign of y (Python's %, rounded once);
// floor_divide(x, y) is the integer below the quotient of x - remainder and y, and x / y where y is 0.
TEST_CASE("fmod is C's, and remainder and floor_divide are Python's", "[math]") {
  check_remainders<m::packet_of<double>>();
  check_remainders<m::packet_of<float>>();
  check_remainders<double>();
  check_remainders<float>();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t cases[][5] = {{7, 3, 1, 1, 2}, {-7, 3, -1, 2, -3}, {7, -3, 1, -2, -3}, {-7, -3, -1, -1, 2}, {6, -3, 0, 0, -2}, {5, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {least, -1, 0, 0, least},
                                   {least, 0, 0, 0, 0}, {(std::int64_t{1} << 53) + 1, 2, 1, 1, std::int64_t{1} << 52}};
  for (const auto& c : cases) {
    INFO(c[0] << " and " << c[1]);
    CHECK(m::fmod(c[0], c[1]) == c[2]);
    CHECK(m::remainder(c[0], c[1]) == c[3]);
    CHECK(m::floor_divide(c[0], c[1]) == c[4]);
  }
}

// Law: at most 0.6 ulp, so powers of ten have exact results.
TEST_CASE("log10 of powers of ten and exp2 of integers are exact", "[math]") {
  const auto first = [](auto p) {
    m::scalar_of<decltype(p)> lanes[m::width<decltype(p)>];
    m::store<decltype(p)>(lanes, p);
    return lanes[0];
  };
  for (double x = 1, n = 0; n <= 22; x *= 10, ++n) CHECK((m::log10(x) == n && first(m::log10(m::set1<m::packet_of<double>>(x))) == n));
  for (float x = 1, n = 0; n <= 10; x *= 10, ++n) CHECK((m::log10(x) == n && first(m::log10(m::set1<m::packet_of<float>>(x))) == n));
  for (double n = -1074; n < 1024; ++n) CHECK((m::exp2(n) == std::exp2(n) && first(m::exp2(m::set1<m::packet_of<double>>(n))) == std::exp2(n)));
  for (float n = -149; n < 128; ++n) CHECK((m::exp2(n) == std::exp2(n) && first(m::exp2(m::set1<m::packet_of<float>>(n))) == std::exp2(n)));
}
