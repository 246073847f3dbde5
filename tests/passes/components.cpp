// SPDX-License-Identifier: BSL-1.0
// Arrays with a short last axis: which become components, and that values are those of the reference for every length of the axis, every number of rows
// around a packet, static and run-time shapes, and special values.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <tenure/print.hpp>

#include "../control_flow/reference.hpp"
#include "../quick.hpp"

namespace tn = tenure;

namespace {

template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

/// Numbers of moderate size; if `special`, some are infinite, NaN, zero or huge.
template <class T, class S, class... Rows>
tn::tensor<T, S> filled(S shape, int seed, bool special = false, Rows... rows) {
  tn::tensor<T, S> x = tn::zeros<T>(shape, rows...);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    T& to = tn::detail::tensor_access::fresh(x)[i];
    to = static_cast<T>(3 * std::sin(static_cast<double>(7 * i + seed)));
    if constexpr (std::is_floating_point_v<T>) {
      const T odd[] = {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(), T(0), std::numeric_limits<T>::max()};
      if (special && i % 11 == 5) to = odd[i / 11 % 5];
    }
  }
  return x;
}

constexpr auto all_rows = [](auto x, auto b) {
  const auto squares = sum(x * x, tn::axis<1>);
  return std::tuple{sum(x, tn::axis<-1>), max(x, tn::axis<1>), sum(x), x / tn::unsqueeze<1>(sqrt(squares + 1.0)), softmax(x * b + 0.5, tn::axis<1>)};
};
constexpr auto columns_and_gradient = [](auto x) {
  return std::tuple{sum(x * x, tn::axis<0>), min(x * 2.0, tn::axis<0>), tn::grad([](auto y) { return sum(log(sum(y * y, tn::axis<1>) + 2.0)); })(x)};
};
constexpr auto turned = [](auto x) { return tn::concat<1>(tn::slice<1, 1, 1, 1>(x), tn::flip<1>(x) + 1.0, -x); };
template <class T, std::int64_t C, std::int64_t Rows>
void check_rows() {
  CAPTURE(C, Rows);
  const double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
  const auto b = filled<T>(tn::shape<C>{}, 5);
  for (const bool special : {false, true}) {
    const auto x = filled<T>(tn::shape<Rows, C>{}, 1, special);
    judged::agree(tn::compile(all_rows)(x, b), judged::by_reference(all_rows, x, b), tolerance);
  }
  const auto x = filled<T>(tn::shape<Rows, C>{}, 1);
  if constexpr (C <= 4) judged::agree(tn::compile(columns_and_gradient)(x), judged::by_reference(columns_and_gradient, x), tolerance);
}
template <class T, std::int64_t C>
void check_run_time_rows() {
  const auto b = filled<T>(tn::shape<C>{}, 5);
  for (const std::int64_t rows : {0, 1, 7, 64, 83}) {
    CAPTURE(C, rows);
    const auto x = filled<T>(tn::shape<tn::dyn, C>{}, 3, false, rows);
    judged::agree(tn::compile(all_rows)(x, b), judged::by_reference(all_rows, x, b), 2e-5);
  }
}

template <class F, class... X>
std::string plan_of(F f, const X&...) {
  return tn::to_text(decltype(tn::compile(f).plan(X()...)){});
}

}  // namespace

TEMPLATE_TEST_CASE("components keeps infinities and NaN in their places, and keeps values up to rounding", "[components]", float, double) {
  constexpr int row = sizeof(TestType) / 4;
  check_rows<TestType, 3, 67>();
  if constexpr (quick::takes(row, 0)) check_rows<TestType, 2, 64>();
  if constexpr (quick::takes(row, 1)) check_rows<TestType, 3, 7>();
  if constexpr (quick::takes(row, 2)) check_rows<TestType, 4, 79>();
  if constexpr (quick::takes(row, 3)) check_rows<TestType, 5, 65>();
  if constexpr (quick::takes(row, 4)) check_rows<TestType, 7, 71>();
  if constexpr (quick::takes(row, 5)) check_rows<TestType, 8, 80>();
  check_run_time_rows<TestType, 3>();
}

TEST_CASE("pairs of points, their gradient, and parts of rows", "[components]") {
  constexpr auto energy = [](auto x) {
    const auto d = tn::unsqueeze<1>(x) - tn::unsqueeze<0>(x);
    return sum(exp(-sum(d * d, tn::axis<2>)));
  };
  const auto x = filled<double>(tn::shape<21, 3>{}, 2);
  judged::agrees_with_reference("pairs", tn::value_and_grad(energy), x);
  judged::agrees_with_reference("turned", turned, filled<double>(tn::shape<70, 2>{}, 4));
  judged::agrees_with_reference("complex product", [](auto a, auto b) {
    const auto re = [](auto z) { return tn::select<1, 0>(z); };
    const auto im = [](auto z) { return tn::select<1, 1>(z); };
    return tn::stack<1>(re(a) * re(b) - im(a) * im(b), re(a) * im(b) + im(a) * re(b));
  }, filled<double>(tn::shape<77, 2>{}, 1), filled<double>(tn::shape<77, 2>{}, 9));
  judged::agrees_with_reference("a slice of long rows", [](auto m) { return sum(tn::slice<1, 2, 3, 1>(m), tn::axis<1>); }, filled<double>(tn::shape<90, 9>{}, 6));
  judged::agrees_with_reference("a loop", [](auto y) { return tn::fori_loop(3, [](auto, auto z) { return z / tn::unsqueeze<1>(1.0 + sum(z * z, tn::axis<1>)); }, y); },
                                filled<double>(tn::shape<66, 3>{}, 8));
  judged::agrees_with_reference("integers", [](auto i) { return std::pair(sum(i, tn::axis<1>), max(i, tn::axis<1>)); }, filled<int>(tn::shape<68, 3>{}, 8));
}

TEST_CASE("components of rows of a view, and of rows at a distance", "[components]") {
  auto all = filled<double>(tn::shape<100, 3>{}, 7);
  const auto lengths = tn::compile([](auto x) { return sum(x * x, tn::axis<1>); });
  const auto expected = lengths(all);
  const auto other = lengths(all[tn::range(0, 100)]);
  const auto second = lengths(all.at(tn::range(0, 100, 2), tn::all));
  const array<double, 3, 100> columns = tn::transpose(all);
  const auto across = lengths(columns.transpose());
  for (int i = 0; i < 100; ++i) {
    CHECK(other(i) == expected(i));
    CHECK(across(i) == expected(i));
    if (i % 2 == 0) CHECK(second(i / 2) == expected(i));
  }
}

TEST_CASE("a short axis becomes components where an operation sums over it, spreads it or assembles it", "[components]") {
  const array<double, 6, 3> x;
  const array<double, 5, 3> few;
  const array<double, 64, 9> long_rows;
  const auto splits = [](auto f, const auto&... a) { return plan_of(f, a...).find("axis=1 start=1 step=1 : float64[") != std::string::npos; };
  CHECK(splits([](auto y) { return sum(y, tn::axis<1>); }, x));
  CHECK(splits([](auto y) { return exp(y) * tn::unsqueeze<1>(tn::select<1, 0>(y)); }, x));
  CHECK_FALSE(splits([](auto y) { return sum(y, tn::axis<1>); }, few));
  CHECK_FALSE(splits([](auto y) { return sum(y, tn::axis<1>); }, long_rows));
  CHECK_FALSE(splits([](auto y) { return exp(y) * y; }, x));
}
