// SPDX-License-Identifier: BSL-1.0
// Law: bounded functions stay within their bounds; where a function saturates it is its limit exactly; and no result of a monotone function is
// more than an ulp behind that of an argument before it, for some functions not even that. All of it whatever the width.
// Samples: neighbours of every place where an algorithm changes its piece, and floats at regular distances;
// every float with scripts/test.sh --all.
#include <algorithm>

#include "accuracy.hpp"

namespace {

using namespace math_test;

constexpr int falls = -1, turns = 0, rises = 1;

// Evaluates `count` numbers, a multiple of the width.
template <class T>
using loop = void (*)(const T*, T*, std::size_t);

template <class T>
struct row {
  const char* name;
  int way;           // rises, falls or turns
  int back;          // ulps that a result may be behind an earlier one
  T from, to;        // the domain
  T least, most;     // the bounds
  T first, last;     // the results at both ends of the domain
  T saturated_from;  // from here on the result is `last`, and in the domain of an odd function or of sigmoid up to minus this it is `first`
  loop<T> of;
};

template <class P, class F>
constexpr auto over(F) {
  return [](const m::scalar_of<P>* x, m::scalar_of<P>* y, std::size_t count) {
    for (std::size_t i = 0; i < count; i += m::width<P>) m::store<P>(y + i, F()(m::load<P>(x + i)));
  };
}

template <class P>
auto rows() {
  using T = m::scalar_of<P>;
  constexpr bool wide = sizeof(T) == 8;
  constexpr T inf = std::numeric_limits<T>::infinity(), half_pi = T(1.57079632679489661923L), pi = T(3.14159265358979323846L);
#define OF(f) over<P>([](P x) { return m::f(x); })
  return std::vector<row<T>>{
      {"tanh", rises, wide ? 2 : 1, -inf, inf, -1, 1, -1, 1, wide ? T(19.07) : T(9.02f), OF(tanh)},
      {"erf", rises, 1, -inf, inf, -1, 1, -1, 1, wide ? T(5.925) : T(3.95f), OF(erf)},
      {"erfc", falls, 1, -inf, inf, 0, 2, 2, 0, wide ? T(27.23) : T(10.06f), OF(erfc)},
      {"sigmoid", rises, 1, -inf, inf, 0, 1, 0, 1, wide ? T(745.2) : T(104), OF(sigmoid)},
      {"normal_cdf", rises, 6, -inf, inf, 0, 1, 0, 1, wide ? T(38.6) : T(14.3f), OF(normal_cdf)},
      {"atan", rises, 0, -inf, inf, -half_pi, half_pi, -half_pi, half_pi, wide ? T(1e17) : T(1e8f), OF(atan)},
      {"asin", rises, 0, -1, 1, -half_pi, half_pi, -half_pi, half_pi, 1, OF(asin)},
      {"acos", falls, 0, -1, 1, 0, pi, pi, 0, 1, OF(acos)},
      {"atan2(1, x)", falls, 1, -inf, inf, 0, pi, pi, 0, inf, over<P>([](P x) { return m::atan2(m::set1<P>(T(1)), x); })},
      {"sin", turns, 0, -std::numeric_limits<T>::max(), std::numeric_limits<T>::max(), -1, 1, 0, 0, inf, OF(sin)},
      {"cos", turns, 0, -std::numeric_limits<T>::max(), std::numeric_limits<T>::max(), -1, 1, 0, 0, inf, OF(cos)},
      {"exp", rises, 1, -inf, inf, 0, inf, 0, inf, wide ? T(745.2) : T(104), OF(exp)},
      {"exp2", rises, 1, -inf, inf, 0, inf, 0, inf, wide ? T(1075) : T(150), OF(exp2)},
      {"pow(1.5, x)", rises, 1, -inf, inf, 0, inf, 0, inf, wide ? T(1838) : T(257), over<P>([](P x) { return m::pow(m::set1<P>(T(1.5)), x); })},
      {"expm1", rises, 0, -inf, inf, -1, inf, -1, inf, wide ? T(709.8) : T(88.73f), OF(expm1)},
      {"softplus", rises, 2, -inf, inf, 0, inf, 0, inf, inf, OF(softplus)},
      {"sinh", rises, 0, -inf, inf, -inf, inf, -inf, inf, wide ? T(710.5) : T(89.42f), OF(sinh)},
      {"cosh", rises, 0, 0, inf, 1, inf, 1, inf, wide ? T(710.5) : T(89.42f), OF(cosh)},
      {"log", rises, 1, 0, inf, -inf, inf, -inf, inf, inf, OF(log)},
      {"log2", rises, 1, 0, inf, -inf, inf, -inf, inf, inf, OF(log2)},
      {"log10", rises, 0, 0, inf, -inf, inf, -inf, inf, inf, OF(log10)},
      {"log1p", rises, 1, -1, inf, -inf, inf, -inf, inf, inf, OF(log1p)},
      {"asinh", rises, 1, -inf, inf, -inf, inf, -inf, inf, inf, OF(asinh)},
      {"acosh", rises, 0, 1, inf, 0, inf, 0, inf, inf, OF(acosh)},
      {"atanh", rises, 0, -1, 1, -inf, inf, -inf, inf, 1, OF(atanh)},
      {"rsqrt", falls, 1, std::numeric_limits<T>::denorm_min(), inf, 0, inf, inf, 0, inf, OF(rsqrt)},
  };
#undef OF
}

// The number of floating-point numbers from a to b.
template <class T>
std::int64_t steps(T a, T b) {
  using word = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const auto place = [](T x) {
    const auto bits = std::bit_cast<word>(x);
    return static_cast<std::int64_t>(bits < 0 ? std::numeric_limits<word>::min() - bits : bits);
  };
  return place(b) - place(a);
}

// Checks one function over numbers in ascending order, in blocks.
template <class T>
struct walk {
  row<T> f;
  T peak = f.first;  // the foremost result so far
  std::int64_t outside = 0, worst_step = 0, unsaturated = 0;
  T where_outside = 0, where_step = 0, where_unsaturated = 0;
  std::vector<T> y = {};  // the peak, then the results of a block

  void take(const std::vector<T>& x) {  // a multiple of 16, all in the domain
    y.resize(x.size() + 1);
    y[0] = peak;
    f.of(x.data(), y.data() + 1, x.size());
    if (!is_plain(x)) look(x);
    else if (f.way != turns) peak = y.back();
  }
  // What holds for nearly all blocks, checked by packets: within the bounds, no step back, nothing saturated.
  bool is_plain(const std::vector<T>& x) const {
    using P = m::packet_of<T>;
    const P least = m::set1<P>(f.least), most = m::set1<P>(f.most);
    if (x.back() >= f.saturated_from || x.front() <= -f.saturated_from) return false;
    for (std::size_t i = 0; i < x.size(); i += m::width<P>) {
      const P before = m::load<P>(y.data() + i), at = m::load<P>(y.data() + i + 1);
      m::mask_of<P> right = m::mask_and(m::le(least, at), m::le(at, most));
      if (f.way == rises) right = m::mask_and(right, m::le(before, at));
      if (f.way == falls) right = m::mask_and(right, m::le(at, before));
      if (!m::all<P>(right)) return false;
    }
    return true;
  }
  void look(const std::vector<T>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T at = y[i + 1];
      if (!(at >= f.least && at <= f.most) && outside++ == 0) where_outside = x[i];
      if (f.way == turns) continue;
      const std::int64_t back = f.way * steps(at, peak);
      if (back > worst_step) worst_step = back, where_step = x[i];
      if (back < 0) peak = at;
      const bool wrong = (x[i] >= f.saturated_from && at != f.last) || (x[i] <= -f.saturated_from && at != f.first);
      if (wrong && unsaturated++ == 0) where_unsaturated = x[i];
    }
  }
  void report(const char* kind) const {
    INFO(f.name << ' ' << kind << ": " << outside << " results out of bounds, the first at " << where_outside << "; at most " << worst_step << " ulp back, at " << where_step << "; "
                << unsaturated << " not saturated, the first at " << where_unsaturated);
    CHECK(outside == 0);
    CHECK(worst_step <= f.back);
    CHECK(unsaturated == 0);
  }
};

template <class T>
void take_all(std::vector<walk<T>>& walks, const std::vector<T>& ascending) {
  std::vector<T> part;
  for (walk<T>& each : walks) {
    auto x = std::lower_bound(ascending.begin(), ascending.end(), each.f.from);
    const auto end = std::upper_bound(ascending.begin(), ascending.end(), each.f.to);
    while (x != end) {
      const auto stop = end - x > 4096 ? x + 4096 : end;
      part.assign(x, stop);
      while (part.size() % 16 != 0) part.push_back(part.back());
      each.take(part);
      x = stop;
    }
  }
}

// Where the algorithms change: multiples of the widths of pieces, sixteenths of all binary exponents, the ends of the clamps, all with
// both signs, and 1 more and 1 less of them.
template <class T>
std::vector<T> places() {
  std::vector<double> at{0.4375, 0.41421356237309503, 2.4142135623730949, 19.061547465398498, 9.010913848876953, 5.921587195794507, 3.919205904006958, 5.925, 9.02, 3.95,
                         709.782712893384, 745.1332191019411, 88.72283935546875, 103.97207641601562, 710.4758600739439, 89.41598510742188, 27.226017111108362, 10.054453849792480,
                         37.42994775023705, 17.328679084777832, 36.7368005696771, 16.635532379150391, 104.5, 746, 22, 40, 20, 60};
  for (const double width : {0.6931471805599453 / 64, 13.0 / 32, 33.0 / 256, 75.0 / 256, 0.25, 0.78539816339744831})
    for (int k = 1; k * width < 90; ++k) at.push_back(k * width);
  for (int e = -140; e <= 125; ++e)
    for (int sixteenth = 0; sixteenth < 16; ++sixteenth) at.push_back(std::ldexp(1 + sixteenth / 16.0, e));
  for (int e = -140; e <= 125; ++e) at.push_back(std::ldexp(1.4142135623730951, e));
  for (int e = 6; e < 45; ++e) at.push_back(std::nearbyint(std::ldexp(1.37, e)) * 1.57079632679489662);
  std::vector<T> out;
  for (const double place : at)
    for (const double x : {place, -place, place - 1, place + 1, 1 - place}) {
      T near = static_cast<T>(x);
      for (int i = 0; i < 12; ++i) near = std::nextafter(near, -std::numeric_limits<T>::infinity());
      for (int i = 0; i < 24; ++i) out.push_back(near), near = std::nextafter(near, std::numeric_limits<T>::infinity());
    }
  random_bits bits{3};
  for (int i = 0; i < 200000; ++i) out.push_back(static_cast<T>((bits.unit() - 0.5) * (i % 2 == 0 ? 80 : 2)));
  const T inf = std::numeric_limits<T>::infinity(), max = std::numeric_limits<T>::max();
  for (const T x : {inf, max, T(1e30f), T(1e6f), T(1000), T(0)}) out.push_back(x), out.push_back(-x);
  std::sort(out.begin(), out.end());
  return out;
}

template <class P>
void check_places(const char* kind) {
  using T = m::scalar_of<P>;
  std::vector<walk<T>> walks;
  for (const row<T>& f : rows<P>()) walks.push_back({f});
  take_all(walks, places<T>());
  for (const walk<T>& each : walks) each.report(kind);
}

// The float in place `at` of all floats, from -inf in place 0.
constexpr std::int64_t all_floats = 2 * std::int64_t{0x7f800000} + 1;
float float_at(std::int64_t at) {
  const std::int64_t magnitude = at - 0x7f800000;
  return std::bit_cast<float>(static_cast<std::uint32_t>(magnitude < 0 ? -magnitude : magnitude) | (magnitude < 0 ? 0x80000000u : 0u));
}

template <class P>
void check_floats(const char* kind, std::int64_t stride) {
  std::vector<walk<float>> walks;
  for (const row<float>& f : rows<P>()) walks.push_back({f});
  std::vector<float> block;
  for (std::int64_t at = 0; at < all_floats;) {
    block.clear();
    for (; at < all_floats && block.size() < 4096; at += stride) block.push_back(float_at(at));
    take_all(walks, block);
  }
  for (const walk<float>& each : walks) each.report(kind);
}

}  // namespace

// Law: the result is f(c) + f'(c) d + ..., where c is the centre of the piece, d = a - c is exact, and f(c) and, for some functions, the slope are
// stored as two numbers.
TEST_CASE("limits and bounds are exact and pieces meet", "[math]") {
  check_places<m::packet_of<double>>("f64");
  check_places<m::packet_of<float>>("f32");
  check_places<double>("f64 one");
  check_places<float>("f32 one");
}

TEST_CASE("bounds and order of floats", "[math]") {
  check_floats<m::packet_of<float>>("f32", 1009);
  check_floats<float>("f32 one", 4001);
}

// Minutes: ctest runs it as math.every_float.* where TENURE_QUICK_TESTS is off.
TEST_CASE("every float keeps bounds and order", "[.exhaustive]") { check_floats<m::packet_of<float>>("f32", 1); }
