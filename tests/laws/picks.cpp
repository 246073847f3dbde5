// SPDX-License-Identifier: BSL-1.0
// Law: picks of elements, columns and slices cost nothing forward, and their gradient is written once: the pads that are their transposes become
// one concat, which kernels compute in its place. It agrees with the sum of the pads. A slice of cheap operations in a concat is computed there too.
#include "adjoint.hpp"

using namespace laws;
using tn::end;
using tn::range;

namespace {

template <std::int64_t... E>
using doubles = tn::tensor<double, shape<E...>>;
template <class F, class... X>
using plan_of = decltype(std::declval<F>().plan(std::declval<const X&>()...));

constexpr auto three_columns = tn::grad<0>([](auto x) {
  const auto a = x.at(tn::all, 1), b = x.at(tn::all, 2), c = x.at(tn::all, 5);
  return sum(sin(a * b) * c + a);
});
constexpr auto every_column = tn::grad<0>([](auto x) {
  const auto at = [=](int i) { return x.at(tn::all, i); };
  return sum(at(0) * at(1) * sin(at(2)) + at(3) * at(4) * at(5) + at(6) * at(7) * at(8) * cos(at(9) * at(10)));
});
constexpr auto unbound = tn::grad<0>([](auto x) {
  const auto [a, b, c] = tn::unbind<1>(x);
  return sum(sin(a * b) * c + a);
});
constexpr auto split_up = tn::grad<0>([](auto x) {
  const auto [a, b] = tn::split<1, 4, 7>(x);
  return sum(sin(a)) + sum(b * b);
});
constexpr auto picked_twice = tn::grad<0>([](auto x) { return sum(x.at(tn::all, 1) * x.at(tn::all, 2) + sin(x.at(tn::all, 1)) + x.at(tn::all, 2) * x.at(tn::all, 9)); });
constexpr auto shifted = tn::grad<0>([](auto x) { return sum(x[range<1, end>()] * sin(x[range<0, end - 1>()])); });
constexpr auto interleaved = tn::grad<0>([](auto x) { return sum(x[range<0, end, 2>()] * sin(x[range<1, end, 2>()])); });
constexpr auto elements = tn::grad<0>([](auto x) { return x(0, 1) * x(1, 0) + x(2, 2) * sin(x(0, 1)); });

constexpr auto delayed = tn::compile([](auto x, auto y) {
  return tn::concat<0>(tn::ones_like(x[range<0, 1>()]), (x + 0.5 * y)[range<0, end - 1>()]);
});

// Five shifts, whose zeros are at different places.
constexpr auto smoothed = tn::grad<0>([](auto x) {
  const auto at = [=](auto r) { return x.at(r); };
  return sum(square(at(range<0, end - 4>()) - 2.0 * at(range<1, end - 3>()) + 3.0 * at(range<2, end - 2>()) - at(range<3, end - 1>()) * at(range<4, end>())));
});

constexpr std::int64_t rows = 1000, number = sizeof(double);

}  // namespace

TEST_CASE("a plan writes each element of the gradient of picks once") {
  using three = plan_of<decltype(three_columns), doubles<rows, 11>>;
  STATIC_REQUIRE(three::kernels() == 1);
  STATIC_REQUIRE(three::bytes() == (3 + 11) * rows * number);
  using every = plan_of<decltype(every_column), doubles<rows, 11>>;
  STATIC_REQUIRE(every::kernels() == 1);
  STATIC_REQUIRE(every::bytes() == (11 + 11) * rows * number);
  using all_columns = plan_of<decltype(unbound), doubles<rows, 3>>;
  STATIC_REQUIRE(all_columns::kernels() == 1);
  STATIC_REQUIRE(all_columns::bytes() == (3 + 3) * rows * number);
  STATIC_REQUIRE(plan_of<decltype(split_up), doubles<rows, 11>>::bytes() == (11 + 11) * rows * number);
  using twice = plan_of<decltype(picked_twice), doubles<rows, 11>>;
  STATIC_REQUIRE(twice::kernels() <= 2);
  STATIC_REQUIRE(twice::bytes() <= (3 + 11 + 4) * rows * number);
  using with_step = plan_of<decltype(interleaved), doubles<rows>>;
  STATIC_REQUIRE(with_step::kernels() == 1);
  STATIC_REQUIRE(with_step::bytes() == 2 * rows * number);
  // Overlapping parts are computed between zeros, and then added.
  using shift = plan_of<decltype(shifted), doubles<rows>>;
  STATIC_REQUIRE(shift::kernels() == 3);
  STATIC_REQUIRE(shift::bytes() <= 6 * rows * number);
  STATIC_REQUIRE(plan_of<decltype(shifted), doubles<dyn>>::kernels() == 3);
  STATIC_REQUIRE(plan_of<decltype(smoothed), doubles<rows>>::bytes() <= 13 * rows * number);
  STATIC_REQUIRE(plan_of<decltype(elements), doubles<3, 3>>::kernels() <= 5);
  // A slice of cheap operations is computed in its place: one kernel, and the ones.
  STATIC_REQUIRE(plan_of<decltype(delayed), doubles<dyn>, doubles<dyn>>::kernels() == 2);
}

// Law: assemble keeps the meaning.
TEMPLATE_TEST_CASE("gradients of picks agree with the reference", "", TENURE_LAW_TYPES) {
  using T = TestType;
  agrees(three_columns, filled<T>(shape<37, 11>{}, 1));
  agrees(every_column, filled<T>(shape<dyn, 11>{}, 2, -2.0, 2.0, 21));
  agrees(unbound, filled<T>(shape<dyn, 3>{}, 22, -2.0, 2.0, 21));
  agrees(split_up, filled<T>(shape<37, 11>{}, 23));
  agrees(picked_twice, filled<T>(shape<dyn, 11>{}, 3, -2.0, 2.0, 9));
  agrees(shifted, filled<T>(shape<130>{}, 4));
  for (const std::int64_t n : {1, 2, 3, 40}) agrees(shifted, filled<T>(shape<dyn>{}, 5, -2.0, 2.0, n));
  for (const std::int64_t n : {1, 2, 9}) agrees(delayed, filled<T>(shape<dyn>{}, 8, -2.0, 2.0, n), filled<T>(shape<dyn>{}, 9, -2.0, 2.0, n));
  agrees(interleaved, filled<T>(shape<34>{}, 6));
  agrees(smoothed, filled<T>(shape<90>{}, 7));
  agrees(elements, filled<T>(shape<3, 3>{}, 7));
}

TEST_CASE("derivatives of picks") {
  using T = double;
  // Slices that overlap, come twice, leave gaps, have steps, and lie along different axes.
  derivatives_agree<T>(
      [](auto x) {
        const auto middle = x.at(tn::all, range<1, end - 1>());
        return std::tuple{x.at(tn::all, range<0, end - 2>()) * middle - sin(x.at(tn::all, range<2, end>())) * middle,
                          x.at(range<0, 5, 2>()) * x.at(range<1, 4>()),
                          x[1] * x[4] * x[1],
                          x(2, 3) * x(4, 3) + x(2, 5),
                          x.at(tn::all, range<0, end, 2>()) * x.at(tn::all, range<1, end, 2>()),
                          x.at(tn::all, 3) * x.at(tn::all, 0)};
      },
      filled<T>(shape<5, 8>{}, 11));
  derivatives_agree<T>(
      [](auto x) {
        return std::tuple{x.at(tn::all, 0) * x.at(tn::all, 2) + x.at(tn::all, 0), x.at(tn::all, range<1, 3>()) * x.at(tn::all, range<0, 2>()), x[0] * x[1]};
      },
      filled<T>(shape<dyn, 4>{}, 12, -2.0, 2.0, 5));
  // Elements of the state of a loop, and of what it captures.
  derivatives_agree<T>(
      [](auto x, auto y) {
        const auto iteration = [=](auto s, auto t) {
          return std::tuple{tn::stack(s(1) * t * x(0), s(2) * s(0) + x(2) * x(0), sin(s(0) * x(1)) * x(2)), s(1)};
        };
        return tn::scan(iteration, x, y);
      },
      filled<T>(shape<3>{}, 13, 0.5, 1.0), filled<T>(shape<4>{}, 14));
  // Shifts of the state of a loop of run-time extent, as in the method of Runge and Kutta.
  derivatives_agree<T>(
      [](auto x, auto steps) {
        const auto slope = [=](auto y) { return x * tn::concat<0>(tn::ones_like(y[range<0, 1>()]), y[range<0, end - 1>()]); };
        const auto iteration = [=](auto y, auto h) {
          const auto k = slope(y), l = slope(y + h * k);
          return std::tuple{y + h * (k + l), y[range<1, end>()] * y[range<0, end - 1>()]};
        };
        return tn::scan(iteration, tn::zeros_like(x), steps);
      },
      filled<T>(shape<dyn>{}, 16, 0.5, 1.0, 7), filled<T>(shape<3>{}, 17, 0.1, 0.4));
  // Columns of each sample.
  derivatives_agree<T>([](auto x) { return tn::vmap([](auto m) { return m.at(tn::all, 0) * m.at(tn::all, 2) + m[1] * m(0, 1); })(x); },
                       filled<T>(shape<6, 3, 3>{}, 15));
}

// A zero beside a pick is a zero, and is multiplied by nothing.
TEST_CASE("an infinity and a NaN in the gradient of a pick stay in their element") {
  const auto f = tn::grad<0>([](auto x) { return sum(log(x.at(tn::all, 1)) + sqrt(x.at(tn::all, 4)) * 0.5 + x.at(tn::all, 2) / x.at(tn::all, 1)); });
  auto x = filled<double>(shape<9, 6>{}, 21, 0.5, 2.0);
  x.at(1, 1) = 0, x.at(2, 4) = 0, x.at(5, 4) = -1;
  x.at(3, 1) = std::numeric_limits<double>::quiet_NaN(), x.at(4, 2) = std::numeric_limits<double>::infinity();
  agrees(f, x);
  const auto g = f(x);
  for (const int column : {0, 3, 5})
    for (int i = 0; i < 9; ++i) CHECK(g(i, column) == 0);
  CHECK(std::isinf(g(2, 4)));
  CHECK(std::isnan(g(3, 1)));
}
