// SPDX-License-Identifier: BSL-1.0
// Factories in a trace give constants of the graph, with the elements that they give in memory.
#include "../catch.hpp"

#include <cmath>
#include <limits>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

template <class A, class B>
void check_same(const A& a, const B& b) {
  REQUIRE(a.extents() == b.extents());
  const auto x = a.clone().template reshape<tn::dyn>(), y = b.clone().template reshape<tn::dyn>();
  for (std::int64_t i = 0; i < x.size(); ++i) CHECK(x(i) == y(i));
}

struct masked {
  template <class X>
  constexpr auto operator()(X x) const {
    const auto mask = tn::index_along<0>(tn::ones(tn::shape<3, 3>{})) >= tn::index_along<1>(tn::ones(tn::shape<3, 3>{}));
    const auto slope = exp(-0.5 * tn::arange<double>(tn::shape<3>{})) + 1;
    return where(mask, x, -1.0) * slope;
  }
};

}  // namespace

// Law: the same factory gives the same elements outside a trace.
TEST_CASE("a factory in a trace gives the elements that it gives in memory") {
  const tn::tensor<double, tn::shape<>> none = 0.0;
  check_same(tn::compile([](auto x) { return x + tn::zeros<double>(tn::shape<2, 3>{}); })(none), tn::zeros<double>(tn::shape<2, 3>{}));
  check_same(tn::compile([](auto x) { return x * tn::ones<float>(tn::shape<2>{}) + 1; })(none), tn::ones<float>(tn::shape<2>{}));
  check_same(tn::compile([](auto x) { return x + tn::full<double>(tn::shape<2>{}, 2.5); })(none), tn::full<double>(tn::shape<2>{}, 2.5));
  check_same(tn::compile([](auto x) { return x + tn::eye<double>(tn::shape<2, 3>{}); })(none), tn::eye<double>(tn::shape<2, 3>{}));
  check_same(tn::compile([](auto x) { return x + tn::arange<double>(tn::shape<5>{}); })(none), tn::arange<double>(tn::shape<5>{}));
  check_same(tn::compile([](auto x) { return x + tn::arange<double>(1, 2, 0.25); })(none), tn::arange<double>(1, 2, 0.25));
  const tn::tensor<float, tn::shape<>> zero = 0.f;
  check_same(tn::compile([](auto x) { return x + tn::arange<float>(0.3f, 50.f, 0.7f); })(zero), tn::arange<float>(0.3f, 50.f, 0.7f));
  check_same(tn::compile([](auto x) { return x + tn::linspace<double>(tn::shape<4>{}, 0, 0.3); })(none), tn::linspace<double>(tn::shape<4>{}, 0, 0.3));
  check_same(tn::compile([](auto x) { return x + tn::linspace<double>(tn::shape<5>{}, -0x1p1023, 0x1p1023); })(none), tn::linspace<double>(tn::shape<5>{}, -0x1p1023, 0x1p1023));
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const tn::tensor<std::int64_t, tn::shape<>> whole = 0;
  check_same(tn::compile([](auto x) { return x + tn::linspace<std::int64_t>(tn::shape<3>{}, -odd, odd); })(whole), tn::linspace<std::int64_t>(tn::shape<3>{}, -odd, odd));
  check_same(tn::compile([](auto x) { return x + tn::linspace<double>(tn::shape<1>{}, 0.1, 0.3); })(none), tn::linspace<double>(tn::shape<1>{}, 0.1, 0.3));
}

TEST_CASE("a tensor of braces in a trace is a constant with these elements") {
  using vector = tn::tensor<double, tn::shape<3>>;
  using matrix = tn::tensor<double, tn::shape<2, 3>>;
  const vector x{1, 10, 100};
  check_same(tn::compile([](auto a) { return a * vector{2, -3.5, 0.25}; })(x), vector{2, -35, 25});
  check_same(tn::compile([](auto a) { return matmul(matrix{{1, 2, 3}, {4, 5, 6}}, a); })(x), tn::tensor<double, tn::shape<2>>{321, 654});
  // A name for it, an expression of it, a number without axes, and elements of other types, with all bits of an integer.
  check_same(tn::compile([](auto a) {
               const vector weights{0, 1, 2};
               return a * weights + (weights - 1) * tn::tensor<double, tn::shape<>>(2.0);
             })(x),
             vector{-2, 10, 202});
  const tn::tensor<std::int64_t, tn::shape<>> zero(0);
  using integers = tn::tensor<std::int64_t, tn::shape<2>>;
  constexpr auto large = [](auto a) { return a + integers{9007199254740993, -9223372036854775807 - 1}; };
  check_same(tn::compile(large)(zero), integers{9007199254740993, -9223372036854775807 - 1});
  using choices = tn::tensor<bool, tn::shape<3>>;
  check_same(tn::compile([](auto a) { return where(choices{true, false, true}, a, 0.0); })(x), vector{1, 0, 100});
  using cube = tn::tensor<float, tn::shape<2, 1, 2>>;
  check_same(tn::compile([](auto a) { return cube{{{1, 2}}, {{3, 4}}} + cast<float>(tn::sum(a) * 0); })(x), cube{{{1, 2}}, {{3, 4}}});
  const auto not_finite = tn::compile([](auto a) { return a * 0 + vector{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), -0.0}; })(x);
  CHECK(not_finite(0) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(not_finite(1)));
  // The state of a loop, and the gradient of what it weighs.
  static constexpr auto iteration = [](auto state, auto each) { return std::tuple{state * vector{1, 2, 3} + each, tn::nothing}; };
  CHECK(std::get<0>(tn::compile([](auto a) { return tn::scan(iteration, vector{1, 1, 1}, a); })(x))(2) == 27 + 9 * 1 + 3 * 10 + 100);
  const auto slopes = tn::grad([](auto a) { return sum(a * a * vector{1, 2, 3}); })(x);
  check_same(slopes, vector{2, 40, 600});
}

TEST_CASE("the constants of factories are arguments of functions in a trace: first states, operands of any operation") {
  const tn::tensor<float, tn::shape<tn::dyn, 3>> rows = tn::ones(tn::shape<tn::dyn, 3>{}, 4);
  constexpr auto sums = [](auto xs) {
    const auto iteration = [](auto state, auto x) { return std::tuple{std::tuple{std::get<0>(state) + x, std::get<1>(state) + 1}, tn::nothing}; };
    return std::get<0>(tn::scan(iteration, std::tuple{tn::zeros(tn::shape<3>{}), tn::full<std::int64_t>(tn::shape<>{}, 5)}, xs));
  };
  const auto [total, trip_count] = tn::compile(sums)(rows);
  CHECK(total(2) == 4);
  CHECK(trip_count.item() == 9);
  constexpr auto loss = [](auto xs) { return sum(matmul(xs, tn::eye(tn::shape<3, 3>{})) * tn::arange(tn::shape<3>{})); };
  const auto g = tn::grad(loss)(rows);
  CHECK(g(3, 0) == 0);
  CHECK(g(3, 2) == 2);
  const auto joined = tn::compile([](auto xs) { return concat<0>(tn::zeros(tn::shape<1, 3>{}), xs); })(rows);
  CHECK(joined.extent(0) == 5);
  CHECK(joined(0, 1) == 0);
  CHECK(tn::compile([](auto xs) { return where(xs > 0.f, tn::full(tn::shape<tn::dyn, 3>{}, 7, 4), xs); })(rows)(3, 1) == 7);
  const auto moved = tn::compile([](auto xs, auto i) { return tn::dynamic_update(xs, tn::zeros(tn::shape<2, 3>{}) + 2.0f, std::tuple{i, 0}); })(rows, 1);
  CHECK(moved(0, 0) == 1);
  CHECK(moved(2, 2) == 2);
  const auto by_vmap = tn::vmap([](auto x) { return x + tn::arange(tn::shape<3>{}); })(rows);
  CHECK(by_vmap(1, 2) == 3);
}

TEST_CASE("the extents of a factory may be numbers of the trace") {
  using open_matrix = tn::tensor<double, tn::shape<tn::dyn, 3>>;
  // One text for tensors and traced values.
  static constexpr auto shifted = [](const auto& x) {
    const auto n = tn::extent<0>(x);
    return tn::eval(x + tn::ones<double>(tn::shape<tn::dyn, 3>{}, n) * tn::unsqueeze<1>(tn::arange<double>(tn::shape<tn::dyn>{}, n)));
  };
  static constexpr auto parts = [](const auto& x) {
    const auto n = tn::extent<0>(x);
    return std::tuple{tn::zeros<float>(tn::shape<tn::dyn, tn::dyn>{}, n, 2), tn::full<std::int64_t>(tn::shape<2, tn::dyn>{}, 7, tn::floor_divide(n, 2) + 1),
                      tn::ones<double>(tn::shape<tn::dim("n"), tn::dim("n")>{}, n - 1),
                      tn::eye<double>(tn::shape<tn::dim("n"), tn::dim("n")>{}, n), tn::eye<std::int64_t>(tn::shape<tn::dyn, 3>{}, 2 * n),
                      tn::linspace<double>(tn::shape<tn::dyn>{}, 0.1, 0.7, n), tn::linspace<std::int64_t>(tn::shape<tn::dyn>{}, 9, -4, n - 1),
                      tn::linspace<std::int64_t>(tn::shape<tn::dyn>{}, (std::int64_t{1} << 53) + 1, 5, n), tn::linspace<double>(tn::shape<tn::dyn>{}, -0x1p1023, 0x1p1023, n)};
  };
  for (const std::int64_t n : {1, 2, 5}) {
    INFO(n << " rows");
    const open_matrix x = tn::full<double>(tn::shape<tn::dyn, 3>{}, 0.5, n);
    check_same(tn::compile(shifted)(x), shifted(x));
    const auto made = tn::compile(parts)(x);
    const auto in_memory = parts(x);
    [&]<std::size_t... I>(std::index_sequence<I...>) { (check_same(std::get<I>(made), std::get<I>(in_memory)), ...); }(std::make_index_sequence<9>{});
    const auto g = tn::grad([](auto a) { return sum(a * shifted(a)); })(x);
    CHECK(g(n - 1, 2) == 1 + static_cast<double>(n - 1));
  }
  // The state of a loop.
  constexpr auto totals = [](auto xs) {
    const auto iteration = [](auto c, auto row) { return std::tuple{c + sum(row), tn::nothing}; };
    return std::get<0>(tn::scan(iteration, tn::zeros<double>(tn::shape<tn::dyn>{}, tn::extent<0>(xs)), xs));
  };
  const auto total = tn::compile(totals)(open_matrix(tn::ones<double>(tn::shape<tn::dyn, 3>{}, 4)));
  CHECK(total.size() == 4);
  CHECK(total(3) == 12);
}

TEST_CASE("an operation of constants only is a constant of a trace") {
  const tn::tensor<double, tn::shape<3, 3>> x = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto lower = tn::compile([](auto x) { return x * tn::tril(tn::ones<double>(tn::shape<3, 3>{})); })(x);
  CHECK(lower(1, 0) == 4);
  CHECK(lower(1, 2) == 0);
  const auto y = tn::compile(masked{})(x);
  CHECK(y(0, 1) == Approx(-(1 + std::exp(-0.5))));
  CHECK(y(2, 2) == Approx(9 * (1 + std::exp(-1.0))));
  // It has no gradient, and is the same for each sample of a batch and each iteration of a loop.
  const auto g = tn::grad([](auto x) { return sum(masked{}(x)); })(x);
  CHECK(g(0, 1) == 0);
  CHECK(g(2, 0) == 2);
  const auto rows = tn::vmap([](auto row) { return row + sin(tn::arange<double>(tn::shape<3>{})); })(x);
  CHECK(rows(2, 1) == Approx(8 + std::sin(1.0)));
  constexpr auto trip_count = [](auto xs) {
    const auto iteration = [](auto c, auto row) { return std::tuple{c + row * exp(tn::arange<double>(tn::shape<3>{})), tn::nothing}; };
    return std::get<0>(tn::scan(iteration, tn::zeros<double>(tn::shape<3>{}), xs));
  };
  const auto total = tn::compile(trip_count)(x);
  CHECK(total(2) == Approx(std::exp(2.0) * (3 + 6 + 9)));
}
