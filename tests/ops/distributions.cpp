// SPDX-License-Identifier: BSL-1.0
// Random numbers of other distributions: those of jax.random, the quantiles of their distributions, their ends, and the gradients of parameters.
#include "../laws/agree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

using namespace laws;

namespace {
#ifdef TENURE_QUICK_TESTS
using tested_types = std::tuple<float>;
#else
using tested_types = std::tuple<float, double>;
#endif
using numbers = std::vector<double>;
constexpr int many = 1 << 14;
constexpr double pi = 3.14159265358979323846;
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class X>
numbers all_of(const X& x) {
  const auto a = array_of(tn::eval(x));
  numbers v;
  for (std::int64_t i = 0; i < a.size(); ++i) v.push_back(a[i]);
  return v;
}
numbers first(int n, numbers x) { return {x.begin(), x.begin() + n}; }
void check_near(const numbers& got, const numbers& wanted, double relative) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(relative).margin(relative));
}

/// The four distributions of numbers. One function, because each program of its own takes seconds to compile.
template <class T>
constexpr auto standard = [](auto k) { return std::tuple{tn::exponential<T>(shape<many>{}, k), tn::laplace<T>(shape<many>{}, k), tn::cauchy<T>(shape<many>{}, k), tn::log_normal<T>(shape<many>{}, k)}; };
/// Their densities where they were drawn, with parameters.
constexpr auto densities = [](auto k, auto at, auto scale) {
  constexpr shape<many> s{};
  namespace density = tn::log_density;
  return std::tuple{density::exponential(tn::exponential<double>(s, k, scale), scale), density::laplace(tn::laplace<double>(s, k, at, scale), at, scale),
                    density::cauchy(tn::cauchy<double>(s, k, at, scale), at, scale), density::log_normal(tn::log_normal<double>(s, k, at, scale), at, scale)};
};
constexpr auto draw_class = [](auto k, auto logits) { return tn::categorical(k, logits); };

// The cumulative distributions.
double below_exponential(double x) { return -std::expm1(-x); }
double below_laplace(double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }
double below_cauchy(double x) { return std::fabs(x) > 1 ? (x < 0 ? 0 : 1) - std::atan(1 / x) / pi : 0.5 + std::atan(x) / pi; }
double below_log_normal(double x) { return std::erfc(-std::log(x) / std::sqrt(2.0)) / 2; }

/// The largest distance of the distribution of the sample and its law, times the root of its size. It is above 1.63 in one of a hundred samples.
double kolmogorov_smirnov(numbers sample, double (*below)(double)) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = below(sample[i]);
    distance = std::fmax(distance, std::fmax(static_cast<double>(i + 1) / n - p, p - static_cast<double>(i) / n));
  }
  return distance * std::sqrt(n);
}
double mean_of(const numbers& x, double power = 1) {
  double sum = 0;
  for (const double e : x) sum += std::pow(e, power);
  return sum / static_cast<double>(x.size());
}
}  // namespace

TEST_CASE("exponential, laplace, cauchy, log_normal and categorical have the numbers of jax.random") {
  // jax 0.10.2: key = jax.random.key(42), with float32 and float64.
  const auto key = tn::random_key(42);
  const auto [e, l, c, n] = tn::compile(standard<float>)(key);
  check_near(first(6, all_of(e)), {0.670817494392395, 1.1388006210327148, 0.9578199982643127, 0.8232924938201904, 0.5990096926689148, 0.8815653324127197}, 1e-6);
  check_near(first(6, all_of(l)), {0.022839652374386787, -0.4456535577774048, -0.2646729052066803, -0.1301453858613968, 0.10392900556325912, -0.1884182244539261}, 1e-6);
  check_near(first(6, all_of(c)), {-0.03548463061451912, 0.6337261199951172, 0.38244056701660156, 0.1940706968307495, -0.15630900859832764, 0.27649515867233276}, 1e-6);
  check_near(first(6, all_of(n)), {0.9720922112464905, 1.595411777496338, 1.3440709114074707, 1.1659612655639648, 0.8833508491516113, 1.2422486543655396}, 1e-6);
  const auto [e2, l2, c2, n2] = tn::compile(standard<double>)(key);
  check_near(first(6, all_of(e2)), {0.5563942243855916, 0.015123860720489336, 0.8536549993431988, 1.30866279263241, 1.1641123638884814, 1.0326496811635133}, 1e-14);
  check_near(first(6, all_of(l2)), {0.15846230602649014, 3.5058868215207473, -0.16050781878325354, -0.6155156120724649, -0.4709651833285354, -0.3395025006035682}, 1e-14);
  check_near(first(6, all_of(c2)), {-0.23434604341667786, -21.19070234669309, 0.23723777098183235, 0.8806079282226775, 0.6695443089142641, 0.48576358781628043}, 1e-13);
  check_near(first(6, all_of(n2)), {0.8313438881150401, 0.11419764994377499, 1.2055495870378643, 1.8446053589980205, 1.6317041353217805, 1.446293829534368}, 1e-14);
  const tn::tensor<float, shape<4>> logits{0.3f, -1.2f, 2, 0.7f};
  const tn::tensor<double, shape<4>> wide{0.3, -1.2, 2, 0.7};
  const auto [of_single, of_wide] = tn::compile([](auto k, auto x, auto y) { return std::tuple{tn::categorical(shape<12>{}, k, x), tn::categorical(shape<12>{}, k, y)}; })(key, logits, wide);
  CHECK(all_of(of_single) == numbers{2, 3, 3, 0, 3, 3, 2, 2, 2, 2, 2, 2});
  CHECK(all_of(of_wide) == numbers{2, 2, 2, 2, 3, 2, 1, 2, 2, 2, 2, 3});
  const tn::tensor<double, shape<dyn, 4>> rows = tn::tensor<double, shape<3, 4>>{{0.3, -1.2, 2, 0.7}, {0, 0, 0, 0}, {-1, 3, 2, 2.5}};
  CHECK(all_of(tn::compile(draw_class)(key, rows)) == numbers{2, 0, 1});
  CHECK(all_of(tn::categorical(shape<2, 3>{}, key, rows)) == numbers{2, 0, 1, 2, 3, 3});
}

// Law: a number is a quantile of its distribution at a uniform number of the key, and no uniform number gives an infinity or NaN.
TEMPLATE_LIST_TEST_CASE("a number is a quantile of its distribution at a uniform number of the key, and no uniform number gives an infinity or NaN", "", tested_types) {
  using T = TestType;
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  tn::tensor<T, shape<200>> u;
  for (int i = 0; i < 200; ++i) {
    const double near = i / 4 < 25 ? i / 4 * epsilon : std::ldexp(epsilon, i / 4 - 24 < 22 ? i / 4 - 24 : 21);
    u.at(i) = static_cast<T>(i % 4 == 0 ? near : i % 4 == 1 ? 1 - epsilon - near : i % 4 == 2 ? 0.5 + near : 0.5 - near);
  }
  constexpr auto f = tn::compile([](auto v) {
    namespace d = tn::distributions;
    return std::tuple{tn::apply<d::exponential>(v), tn::apply<d::laplace>(v), tn::apply<d::cauchy>(v), tn::apply<d::gumbel>(v)};
  });
  const auto [e, l, c, g] = f(u);
  for (int i = 0; i < 200; ++i) {
    const double v = static_cast<double>(u(i)), at_pole = v * (1 - epsilon) + epsilon;
    INFO("u is " << v);
    CHECK(static_cast<double>(e(i)) == Approx(-std::log1p(-v)).epsilon(4 * epsilon).margin(1e-300));
    const double x = 2 * v - 1 + epsilon / 2;
    CHECK(static_cast<double>(l(i)) == Approx(x > 0 ? std::log1p(-x) : -std::log1p(x)).epsilon(4 * epsilon));
    CHECK(below_laplace(-static_cast<double>(l(i))) == Approx(v).margin(4 * epsilon));
    if (v < 0.75) CHECK(static_cast<double>(c(i)) == Approx(v < 0.25 ? -1 / std::tan(pi * at_pole) : std::tan(pi * (at_pole - 0.5))).epsilon(8 * epsilon).margin(2 * epsilon));
    CHECK(below_cauchy(static_cast<double>(c(i))) == Approx(v).margin(4 * epsilon));
    for (const T y : {e(i), l(i), c(i), g(i)}) CHECK(std::isfinite(y));
  }
}

TEMPLATE_LIST_TEST_CASE("samples have the distributions of their densities", "", tested_types) {
  using T = TestType;
  const auto key = tn::random_key(77);
  const auto [of_e, of_l, of_c, of_n] = tn::compile(standard<T>)(key);
  const numbers e = all_of(of_e), l = all_of(of_l), c = all_of(of_c), n = all_of(of_n);
  CHECK(kolmogorov_smirnov(e, below_exponential) < 1.63);
  CHECK(kolmogorov_smirnov(l, below_laplace) < 1.63);
  CHECK(kolmogorov_smirnov(c, below_cauchy) < 1.63);
  CHECK(kolmogorov_smirnov(n, below_log_normal) < 1.63);
  CHECK(kolmogorov_smirnov(e, [](double x) { return below_exponential(x * 1.1); }) > 1.63);  // another rate is noticed
  // Four standard deviations of each mean.
  const double root = std::sqrt(many);
  CHECK(mean_of(e) == Approx(1).margin(4 / root));
  CHECK(mean_of(e, 2) == Approx(2).margin(4 * std::sqrt(20.0) / root));
  CHECK(mean_of(l) == Approx(0).margin(4 * std::sqrt(2.0) / root));
  CHECK(mean_of(l, 2) == Approx(2).margin(4 * std::sqrt(20.0) / root));
  CHECK(mean_of(n) == Approx(std::exp(0.5)).margin(4 * std::sqrt(std::exp(2.0) - std::exp(1.0)) / root));
}

TEST_CASE("the mean of the log density of a sample is minus the entropy of its distribution") {
  const auto [e, l, c, n] = tn::compile(densities)(tn::random_key(77), 0.3, 0.4);
  const double root = std::sqrt(many);
  CHECK(mean_of(all_of(e)) == Approx(std::log(0.4) - 1).margin(4 / root));
  CHECK(mean_of(all_of(l)) == Approx(-std::log(0.8) - 1).margin(4 / root));
  CHECK(mean_of(all_of(c)) == Approx(-std::log(4 * pi * 0.4)).margin(4 * 1.82 / root));
  CHECK(mean_of(all_of(n)) == Approx(-0.3 - 0.5 - std::log(0.4) - 0.5 * std::log(2 * pi)).margin(4 * 0.9 / root));
}

TEST_CASE("compiled, eager, of a run-time shape and under vmap the numbers are the same") {
  const auto key = tn::random_key(5);
  const auto [e, l, c, n] = tn::compile(standard<float>)(key);
  CHECK(all_of(e) == all_of(tn::exponential(shape<many>{}, key)));
  CHECK(all_of(l) == all_of(tn::laplace(shape<many>{}, key)));
  CHECK(all_of(c) == all_of(tn::cauchy(shape<many>{}, key)));
  CHECK(all_of(n) == all_of(tn::log_normal(shape<many>{}, key)));
  const auto all_double = tn::compile(standard<double>)(key);
  CHECK(all_of(std::get<2>(all_double)) == all_of(tn::cauchy<double>(shape<many>{}, key)));
  // To the last bits, which depend on the packets.
  const tn::tensor<float, shape<dyn, 8>> x(6);
  const auto [e2, l2, c2] = tn::compile([](auto x, auto k) { return std::tuple{tn::exponential_like(x, k), tn::laplace_like(x, k), tn::cauchy_like(x, k)}; })(x, key);
  check_near(all_of(e2), first(48, all_of(e)), 2e-6);
  check_near(all_of(l2), first(48, all_of(l)), 2e-6);
  check_near(all_of(c2), first(48, all_of(c)), 2e-6);
  tn::tensor<std::int32_t, shape<2, 2>> keys;
  for (int i = 0; i < 2; ++i) keys[i] = key;
  const auto each = tn::vmap([](auto k) { return tn::cauchy<double>(shape<16>{}, k); })(keys);
  check_near(all_of(each[1]), first(16, all_of(std::get<2>(all_double))), 1e-14);
  agrees(tn::compile(standard<double>), 64.0, key);  // by the reference, which knows no packets
}

TEST_CASE("the gradient of a sampler by its parameters is that of the formula, also where they broadcast") {
  const auto key = tn::random_key(6);
  const tn::tensor<double, shape<3>> location{0.5, -1, 2}, scale{0.3, 1, 2.5};
  const auto w = filled<double>(shape<5, 3>{}, 8);
  const auto samples = [](auto m, auto d, auto k) {
    constexpr shape<5, 3> s{};
    return std::tuple{m + tn::exponential<double>(s, k, d), tn::laplace<double>(s, k, m, d), tn::cauchy<double>(s, k, m, d), tn::log_normal<double>(s, k, m, d)};
  };
  const auto [e, l, c, n] = tn::compile(samples)(location, scale, key);
  const auto [by_location, by_scale] = tn::grad<0, 1>([](auto m, auto d, auto k, auto w) {
    constexpr shape<5, 3> s{};
    return sum(w * ((m + tn::exponential<double>(s, k, d)) + 2.0 * tn::laplace<double>(s, k, m, d) + 4.0 * tn::cauchy<double>(s, k, m, d) + 8.0 * tn::log_normal<double>(s, k, m, d)));
  })(location, scale, key, w);
  for (int j = 0; j < 3; ++j) {
    double of_location = 0, of_scale = 0;
    for (int i = 0; i < 5; ++i) {
      of_location += w(i, j) * (1 + 2 + 4 + 8 * n(i, j));
      of_scale += w(i, j) * ((location(j) - e(i, j)) + 2 * (l(i, j) - location(j)) + 4 * (c(i, j) - location(j)) + 8 * n(i, j) * (std::log(n(i, j)) - location(j))) / scale(j);
    }
    CHECK(by_location(j) == Approx(of_location).epsilon(1e-12).margin(1e-13));
    CHECK(by_scale(j) == Approx(of_scale).epsilon(1e-12).margin(1e-13));
  }
}

TEMPLATE_LIST_TEST_CASE("categorical draws each class with its probability, and bernoulli with p", "", tested_types) {
  using T = TestType;
  const auto key = tn::random_key(21);
  const tn::tensor<T, shape<2, 5>> logits{{1, -infinity<T>, 2, 0, T(0.5)}, {-infinity<T>, 100, 98, -infinity<T>, 99}};
  constexpr auto f = [](auto k, auto l) { return tn::categorical(shape<many, 2>{}, k, l); };
  const auto drawn = tn::compile(f)(key, logits);
  for (int row = 0; row < 2; ++row) {
    double count[5]{}, sum = 0, chi_square = 0;
    for (int i = 0; i < many; ++i) {
      REQUIRE((0 <= drawn(i, row) && drawn(i, row) < 5));
      count[drawn(i, row)] += 1;
    }
    for (int j = 0; j < 5; ++j) sum += std::exp(static_cast<double>(logits(row, j) - logits(row, 2)));
    for (int j = 0; j < 5; ++j) {
      const double expected = many * std::exp(static_cast<double>(logits(row, j) - logits(row, 2))) / sum;
      if (expected == 0) CHECK(count[j] == 0);
      else chi_square += (count[j] - expected) * (count[j] - expected) / expected;
    }
    CHECK(chi_square < (row == 0 ? 16.3 : 13.9));  // 0.1 %
  }
  double part = 0;
  constexpr auto flags = [](auto k, auto p) { return tn::bernoulli<T>(shape<many>{}, k, p); };
  const auto of = [&](double p) { return all_of(tn::compile(flags)(key, static_cast<T>(p))); };
  for (const double b : of(0.3)) part += b / many;
  CHECK(part == Approx(0.3).margin(4 * 0.4583 / std::sqrt(many)));
  CHECK(of(0) == numbers(many));
  CHECK(of(1) == numbers(many, 1.0));
  CHECK(of(std::numeric_limits<double>::quiet_NaN()) == numbers(many));
}

TEST_CASE("categorical of a row without a possible class gives 0, and of a row with a NaN its position, as jax.random does") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const tn::tensor<float, shape<3, 4>> logits{{-inf, -inf, -inf, -inf}, {-inf, -inf, 0, -inf}, {0, 1, nan, nan}};
  CHECK(all_of(tn::categorical(tn::random_key(3), logits)) == all_of(tn::tensor<std::int64_t, shape<3>>{0, 2, 2}));
}

TEST_CASE("categorical finds the largest number again in rows of any length, whatever packets hold it") {
  const auto key = tn::random_key(22);
  const auto check = [&](const auto& logits) {
    const double classes = static_cast<double>(logits.extents()[1]);
    for (int i = 0; i < 20; ++i)
      for (const double k : all_of(tn::compile(draw_class)(tn::eval(tn::fold_in(key, i)), logits))) CHECK((0 <= k && k < classes));
  };
  check(filled<float>(shape<40, 7>{}, 2));
  check(filled<double>(shape<40, 13>{}, 3));
  for (const int classes : {1, 5, 1003}) check(filled<float>(shape<dyn, dyn>{}, 4, 40, classes));
}

TEST_CASE("in bfloat16 samples are those of float32, rounded once, and categorical computes in float32") {
  using tn::bfloat16;
  const auto key = tn::random_key(3);
  const auto rounded = [](const numbers& x) {
    numbers y;
    for (const double e : x) y.push_back(static_cast<double>(float(bfloat16(static_cast<float>(e)))));
    return y;
  };
  const tn::tensor<bfloat16, shape<64>> x;
  const tn::tensor<bfloat16, shape<3>> logits{bfloat16(0.5f), bfloat16(1.0f), bfloat16(-1.0f)};
  const auto [e, c, k] = tn::compile([](auto x, auto logits, auto key) { return std::tuple{tn::exponential<bfloat16>(shape<64>{}, key), tn::cauchy_like(x, key), tn::categorical(shape<64>{}, key, logits)}; })(x, logits, key);
  const auto single = tn::compile(standard<float>)(key);
  CHECK(all_of(e) == rounded(first(64, all_of(std::get<0>(single)))));
  CHECK(all_of(c) == rounded(first(64, all_of(std::get<2>(single)))));
  CHECK(all_of(k) == all_of(tn::categorical(shape<64>{}, key, tn::tensor<float, shape<3>>{0.5f, 1, -1})));
}
