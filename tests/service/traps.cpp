// SPDX-License-Identifier: BSL-1.0
// A program that traps floating-point errors (feenableexcept) runs on with valid data: no function divides by zero, makes a NaN or overflows where its
// results are finite, whatever the length, but `where`.
#include "../laws/agree.hpp"

#include <cfenv>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace laws;

namespace {

/// The flags of errors that f sets.
template <class F>
std::string flags_of(const F& f) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const auto result = f();
  asm volatile("" : : "r"(&result) : "memory");  // somebody reads it, so it is computed
  const int set = std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  std::feclearexcept(FE_ALL_EXCEPT);
  return std::string(set & FE_DIVBYZERO ? " divided by zero" : "") + (set & FE_INVALID ? " made a NaN" : "") + (set & FE_OVERFLOW ? " overflowed" : "");
}

constexpr auto of_all = [](const auto&... y) { return (... + sum(y)); };
/// The sum of all results of f.
template <class F>
constexpr auto total = [](const auto&... x) { return std::apply(of_all, F{}(x...)); };

template <class F>
constexpr auto values = tn::compile([](const auto&... x) { return F{}(x...); });
template <class F>
constexpr auto slopes = tn::value_and_grad<0>(total<F>);

struct range {
  double lo, hi;
  bool is_of_exponents = false;  // numbers of both signs, from 10^lo to 10^hi
};

template <class T>
tn::tensor<T, shape<dyn>> numbers(const range& r, std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> all;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = std::uniform_real_distribution<>(r.lo, r.hi)(random);
    all.push_back(static_cast<T>(r.is_of_exponents ? std::copysign(std::pow(10., x), random() % 2 == 0 ? 1. : -1.) : x));
  }
  return tn::from(all).clone();
}

/// The flags that functions of vectors set, compiled and eager, with their gradients, for all lengths of the last packets.
template <class T, bool Eager, class F, class... Range>
std::string flags_of_functions([[maybe_unused]] F f, const Range&... r) {
  std::string found;
  for (unsigned n = 1; n <= 35 && found.empty(); ++n) {
    const auto data = [&](unsigned seed) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{numbers<T>(r, n, 100 * n + 10 * seed + static_cast<unsigned>(I))...}; }(std::index_sequence_for<Range...>{});
    };
    const auto x = data(1);
    found += flags_of([&] { return std::apply(values<F>, x); });
    found += flags_of([&] { return std::apply(slopes<F>, x); });
    if constexpr (Eager) {
      tn::variable<T, shape<dyn>> leaf = std::get<0>(x).clone().requires_grad_();
      found += flags_of([&] {
        std::apply(of_all, f(leaf)).backward();
        return leaf.grad().clone();
      });
    }
    if (!found.empty()) found += ", of " + std::to_string(n) + " numbers";
  }
  return found;
}

#define CHECK_QUIET(Eager, f, ...) \
  { \
    const std::string flags = flags_of_functions<T, Eager>(f, __VA_ARGS__); \
    INFO(#f << flags); \
    CHECK(flags.empty()); \
  }

template <class T>
void check_functions() {
  constexpr range any{-20, 20}, wide{-18, 18, true}, positive{0.25, 3}, below_one{-0.9, 0.9};
  const auto logarithms = [](const auto& x) { return std::tuple{log(x), log1p(x), log2(x), log10(x), sqrt(x), rsqrt(x), reciprocal(x), pow(x, 1.75), pow(x, x), acosh(x + 1)}; };
  CHECK_QUIET(true, logarithms, positive);
#ifdef TENURE_QUICK_TESTS
  if constexpr (sizeof(T) == 8) return;
#endif
  const auto inverses = [](const auto& x) { return std::tuple{asin(x), acos(x), atanh(x)}; };
  CHECK_QUIET(false, inverses, below_one);
  const auto of_two = [](const auto& x, const auto& y) {
    return std::tuple{x / y, pow(x, y), atan2(x, y), xlogy(x, y), fmod(x, y), remainder(x, y), floor_divide(x, y), lerp(x, y, 0.5), where(x > y, x / y, y / x)};
  };
  CHECK_QUIET(false, of_two, positive, positive);
  const auto bounded = [](const auto& x) { return std::tuple{sin(x), cos(x), tan(x), atan(x), asinh(x), tanh(x), sigmoid(x), erf(x), erfc(x)}; };
  CHECK_QUIET(false, bounded, wide);
  const auto rows = [](const auto& x) { return std::tuple{softmax(x), log_softmax(x), logsumexp(x), layer_norm(x), norm(x), norm<3>(x), stddev<0>(x), amax(x)}; };
  CHECK_QUIET(false, rows, any);
  const auto exponentials = [](const auto& x) { return std::tuple{exp(x), expm1(x), exp2(x), sinh(x), cosh(x), square(x), elu(x), selu(x)}; };
  CHECK_QUIET(false, exponentials, any);
  const auto rounded = [](const auto& x) { return std::tuple{abs(x), sign(x), floor(x), round(x), ceil(x), trunc(x), leaky_relu(x), clamp(x, -1, 1)}; };
  CHECK_QUIET(false, rounded, wide);
  const auto activations = [](const auto& x) { return std::tuple{softplus(x), silu(x), gelu(x), gelu_tanh(x), mish(x), log_sigmoid(x), softsign(x), exp(-abs(x))}; };
  CHECK_QUIET(false, activations, wide);
  const auto counted = [](const auto& x) { return std::tuple{x / (tn::index_along<0>(x) + 1), 1 / (35 - tn::index_along<0>(x)) * x}; };
  CHECK_QUIET(false, counted, positive);
  const auto losses = [](const auto& x, const auto& y) { return std::tuple{mse(x, y), l1(x, y), huber(x, y), smooth_l1(x, y), bce_with_logits(x, y)}; };
  CHECK_QUIET(false, losses, any, any);
  const auto loop = [](const auto& x) { return std::tuple{tn::fori_loop(3, [](auto, auto c) { return 1 / c + log(c) + 2; }, x)}; };
  CHECK_QUIET(false, loop, positive);
}

}  // namespace

TEST_CASE("no function of float32 sets a flag of an error where its results are finite") { check_functions<float>(); }
TEST_CASE("no function of float64 sets a flag of an error where its results are finite") { check_functions<double>(); }

// clang++ adds computations of its own, such as of the lanes of short rows. With -ffp-exception-behavior=maytrap both cases pass.
#if !defined(__clang__)
TEST_CASE("no function sets a flag of an error at the edge of its domain") {
  const auto check = []<class T>(T) {
    const tn::tensor<T, shape<3>> zero = tn::zeros<T>(shape<3>{}), one = tn::ones<T>(shape<3>{});
    const auto of_zero = [](const auto& x) { return std::tuple{norm(x), norm<3>(x), stddev<0>(x), pow(x, 1.75), tan(x), log1p(x), expm1(x), asinh(x), layer_norm(x), tanh(x), l1(x, x)}; };
    CHECK(flags_of([&] { return values<decltype(of_zero)>(zero); }) == "");
    CHECK(flags_of([&] { return slopes<decltype(of_zero)>(zero); }) == "");
    // Here derivatives are infinite.
    const auto to_edge = [](const auto& x, const auto& y) { return std::tuple{sqrt(x), pow(x, 0.25), pow(x, y), xlogy(x, x), atan2(x, x), asin(y), acos(y), acosh(y), bce(x, y), bce(y, y)}; };
    CHECK(flags_of([&] { return values<decltype(to_edge)>(zero, one); }) == "");
  };
  check(1.f);
#ifndef TENURE_QUICK_TESTS
  check(1.);
#endif
}
#endif

TEST_CASE("where computes both of its operands for each element, and a where within does not divide by zero") {
  const auto x = numbers<float>({0, 0}, 3, 1);
  CHECK(flags_of([&] { return tn::eval(where(x > 0, 1 / x + 1, 0.f)); }) == " divided by zero");
  CHECK(flags_of([&] { return tn::eval(where(x > 0, 1 / where(x > 0, x, 1.f) + 1, 0.f)); }) == "");
}

#if !defined(__clang__)
TEST_CASE("functions along an axis, of strided operands and of short rows set no flag of an error") {
  const auto check = []<std::int64_t N>(shape<3, N> s) {
    INFO(N << " numbers");
    const auto x = filled<float>(s, 1, 0.25, 3.);
    const auto f = [](const auto& y) {
      return std::tuple{prod(y, tn::axis<1>), log(cumprod(y, tn::axis<1>)), 1 / cumsum(y, tn::axis<1>), log(tn::flip(y)), 1 / tn::concat<1>(y, y), 1 / tn::transpose(y), log(sum(y, tn::axis<0>))};
    };
    CHECK(flags_of([&] { return values<decltype(f)>(x); }) == "");
    CHECK(flags_of([&] { return slopes<decltype(f)>(x); }) == "");
  };
#ifndef TENURE_QUICK_TESTS
  check(shape<3, 5>{});
#endif
  check(shape<3, 19>{});
}
#endif

TEST_CASE("divisions of integers, converted numbers and masks set no flag of an error") {
  for (int n = 1; n <= 35; ++n) {
    INFO(n << " numbers");
    const auto x = filled<std::int32_t>(shape<dyn>{}, 1, 1., 9., n), y = filled<std::int32_t>(shape<dyn>{}, 2, 1., 9., n);
    const auto mask = filled<bool>(shape<dyn>{}, 3, 0.5, 1., n);
    CHECK(flags_of([&] { return tn::eval(x / y); }) == "");
    CHECK(flags_of([&] { return tn::eval(log(y)); }) == "");
    CHECK(flags_of([&] { return tn::eval(floor_divide(x, y) + remainder(x, y)); }) == "");
    CHECK(flags_of([&] { return tn::eval(1.f / where(mask, 2.f, 0.f * y)); }) == "");
  }
}

TEST_CASE("an attention and its gradient set no flag of an error") {
  constexpr auto f = [](auto q, auto k, auto v) { return sum(square(attention(q, k, v))); };
  constexpr auto causal = [](auto q, auto k, auto v) { return sum(square(attention(q, k, v, tn::causal))); };
  constexpr auto slope = tn::value_and_grad<0, 1, 2>(f);
  constexpr auto causal_slope = tn::value_and_grad<0, 1, 2>(causal);
  for (int n = 1; n <= 35; ++n) {
    INFO(n << " rows");
    // Scores below -100: those of columns that are not there are not 0.
    const auto q = filled<float>(shape<dyn, 5>{}, 1, 20., 30., n), k = filled<float>(shape<dyn, 5>{}, 2, -30., -20., n), v = filled<float>(shape<dyn, 5>{}, 3, -2., 2., n);
    CHECK(flags_of([&] { return tn::eval(attention(q, k, v)); }) == "");
    CHECK(flags_of([&] { return tn::eval(attention(q, k, v, tn::causal)); }) == "");
    CHECK(flags_of([&] { return slope(q, k, v); }) == "");
    CHECK(flags_of([&] { return causal_slope(q, k, v); }) == "");
  }
}
