// SPDX-License-Identifier: BSL-1.0
// Functions of each element of a short vector, written element by element: when they become one function of the vector, and that no
// value changes. A function of a number and of a packet may round differently.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <tenure/print.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../quick.hpp"

namespace tn = tenure;

namespace {

template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

/// f of the first Count elements of a vector, one by one.
template <class F, std::size_t Count>
struct one_by_one {
  template <class X>
  constexpr auto operator()(X x) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return tn::stack<0>(F{}(x(static_cast<int>(I)))...); }(std::make_index_sequence<Count>{});
  }
};
template <class X, class F>
bool is_widened(F f) {
  using plan = decltype(tn::compile(f).plan(X()));
  const std::string graph = tn::to_text(plan{}), vector = "float64[" + std::to_string(X().extent(0)) + "]\n";
  return graph.find("sin %0 : " + vector) != std::string::npos;
}

constexpr auto several = [](auto x) { return tn::stack<0>(exp(x), log(x), sin(x), cos(x), tanh(x), sigmoid(x), erf(x), sqrt(x), log1p(x)); };
constexpr auto sine = [](auto x) { return sin(x); };

/// All elements, so that the functions are widened, and all but the last, so that they are not.
template <class T, std::size_t N>
void check_values() {
  const T most = std::numeric_limits<T>::max(), infinite = std::numeric_limits<T>::infinity();
  const T special[] = {T(0.3), T(-2.5), T(0), -T(0), infinite, -infinite, std::numeric_limits<T>::quiet_NaN(), most, std::numeric_limits<T>::denorm_min(), T(1e6), T(1)};
  array<T, static_cast<std::int64_t>(N)> x;
  for (std::size_t i = 0; i < N; ++i) x.at(static_cast<std::int64_t>(i)) = special[i * 7 % 11];
  const auto wide = tn::compile(one_by_one<std::remove_const_t<decltype(several)>, N>{})(x);
  const auto alone = tn::compile(one_by_one<std::remove_const_t<decltype(several)>, N - 1>{})(x);
  for (std::int64_t i = 0; i < alone.size(); ++i) {
    const T a = wide.data()[i], b = alone.data()[i];
    CAPTURE(i, a, b);
    const bool is_same = a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
    CHECK((is_same || std::fabs(a - b) <= 2 * std::numeric_limits<T>::epsilon() * std::fabs(b)));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("widen keeps every value up to the rounding of a function", "[widen]", float, double) {
  check_values<TestType, 7>();
  if constexpr (quick::takes(sizeof(TestType) / 4 + 1)) check_values<TestType, 17>();
  if constexpr (quick::takes(1)) check_values<TestType, 2>();
  if constexpr (quick::takes(1)) check_values<TestType, 9>();
}

TEST_CASE("functions of all elements become a function of the vector, and functions of some do not", "[widen]") {
  using f = std::remove_const_t<decltype(sine)>;
  CHECK(is_widened<array<double, 3>>(one_by_one<f, 3>{}));
  CHECK(is_widened<array<double, 64>>(one_by_one<f, 64>{}));
  const std::string of_row = tn::to_text(decltype(tn::compile([](auto x) { return tn::stack<0>(sin(x(0, 0)), sin(x(0, 1)), sin(x(0, 2))); }).plan(array<double, 1, 3>())){});
  CHECK(of_row.find("sin %0 : float64[1,3]") != std::string::npos);
  CHECK_FALSE(is_widened<array<double, 4>>(one_by_one<f, 3>{}));
  CHECK_FALSE(is_widened<array<double, 65>>(one_by_one<f, 64>{}));
  CHECK_FALSE(is_widened<array<double, 3>>([](auto x) { return tn::stack<0>(sin(x(0)), sin(x(1)), cos(x(2))); }));
  CHECK(is_widened<array<double, 3>>([](auto x) { return sin(x(2)) * sin(x(1)) + sin(x(0)); }));
}

TEST_CASE("derivatives and loops of functions of elements", "[widen]") {
  constexpr auto path = [](auto x) { return sin(x(0)) * cos(x(1)) + sin(x(1)) * cos(x(2)) + sin(x(2)) * cos(x(0)); };
  constexpr auto whole = [](auto x) {
    const auto s = sin(x), c = cos(x);
    return s(0) * c(1) + s(1) * c(2) + s(2) * c(0);
  };
  const array<double, 3> x{0.3, -1.2, 2.5};
  const auto a = tn::grad(path)(x), b = tn::grad(whole)(x);
  const auto h = tn::hessian(path)(x), k = tn::hessian(whole)(x);
  for (int i = 0; i < 3; ++i) {
    CHECK(std::fabs(a(i) - b(i)) <= 1e-15);
    for (int j = 0; j < 3; ++j) CHECK(std::fabs(h(i, j) - k(i, j)) <= 1e-14);
  }
  constexpr auto turned = tn::compile([](auto x) {
    return tn::fori_loop(5, [](auto, auto y) { return tn::stack<0>(sin(y(1)), sin(y(2)), sin(y(0))); }, x);
  });
  double y[] = {0.3, -1.2, 2.5};
  for (int t = 0; t < 5; ++t) {
    const double z[] = {std::sin(y[1]), std::sin(y[2]), std::sin(y[0])};
    for (int i = 0; i < 3; ++i) y[i] = z[i];
  }
  const auto got = turned(x);
  for (int i = 0; i < 3; ++i) CHECK(std::fabs(got(i) - y[i]) <= 1e-14);
}
