// SPDX-License-Identifier: BSL-1.0
// Blocks at positions that are known when the program runs, and ranges that end a number of elements before the end of an axis. Law: the
// values are those of views of a tensor at the same positions, and gradients are those of central differences.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;
using on_device::at;
using on_device::there;
using matrix = tn::tensor<double, tn::shape<4, 5>>;
using open_vector = tn::tensor<double, tn::shape<tn::dyn>>;

namespace {

matrix numbers() {
  matrix m;
  for (std::int64_t i = 0; i < m.size(); ++i) m.at(i / 5, i % 5).fill_(0.5 + static_cast<double>(i * 7 % 11));
  return m;
}
open_vector counted(std::int64_t n) {
  open_vector x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i].fill_(static_cast<double>(i * i));
  return x;
}
template <class X, class Y>
void same(const X& x, const Y& y) {
  const auto a = tn::tensor(on_device::here(x).clone());
  const auto b = tn::tensor(on_device::here(y).clone());
  REQUIRE(a.extents() == b.extents());
  for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == b.data()[i]);
}

/// Compares a gradient of f in x with central differences.
template <class F, class... Rest>
void check_gradient(F f, const matrix& x, const Rest&... rest) {
  const auto g = tn::grad(f)(there(x), rest...);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    auto up = x.clone(), down = x.clone();
    up.at(i / 5, i % 5) += 1e-5;
    down.at(i / 5, i % 5) -= 1e-5;
    const double slope = (tn::compile(f)(there(up), rest...).item() - tn::compile(f)(there(down), rest...).item()) / 2e-5;
    INFO("element " << i);
    CHECK(at(g, i / 5, i % 5) == Approx(slope).margin(1e-6));
  }
}

constexpr auto differences = [](auto x) { return x[tn::range<1, tn::end>()] - x[tn::range<0, tn::end - 1>()]; };

}  // namespace

TEST_CASE("subscripts at traced positions select what views of a tensor select") {
  const matrix m = numbers();
  constexpr auto f = tn::compile([](auto x, auto i, auto j) {
    return std::tuple{x[i], x.at(tn::all, j), x.at(i, j), x.at(tn::window<2>(i), tn::all), x.at(tn::all, tn::window<3>(j)), x.at(tn::window<2>(i), tn::window<3>(j)), x.at(1, j), x.at(i, tn::range<1, 4, 2>())};
  });
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto [row, column, element, rows, columns, block, of_row, part] = f(there(m), i, static_cast<std::int32_t>(i));
    same(row, m[i]);
    same(column, m.at(tn::all, i));
    CHECK(element.item() == m(i, i));
    same(rows, m[tn::window<2>(i)]);
    same(columns, m.at(tn::all, tn::window<3>(i)));
    same(block, m.at(tn::window<2>(i), tn::window<3>(i)));
    CHECK(of_row.item() == m(1, i));
    same(part, m.at(i, tn::range<1, 4, 2>()));
  }
  CHECK_THROWS_WITH(f(there(m), 4, 0), "tenure: at: index 4 is outside an axis of 4");
  CHECK_THROWS_WITH(f(there(m), 0, -1), "tenure: at: index -1 is outside an axis of 5");
  CHECK_THROWS_WITH(f(there(m), 3, 0), "tenure: at: a block of 2 at index 3 is outside an axis of 4");
}

TEST_CASE("a subscript behind an axis of run-time extent selects what a view selects, also as an element, in a loop and in a gradient") {
  using open_rows = tn::tensor<double, tn::shape<tn::dyn, 5>>;
  using open_matrix = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
  const matrix m = numbers();
  open_rows rows(4);
  open_matrix open(4, 5);
  rows.copy_(m), open.copy_(m);
  constexpr auto f = tn::compile([](auto x, auto i) {
    return std::tuple{x.at(tn::all, i), x.at(tn::all, 3), x(2, i), x(i, i), x(1, 4), x.at(tn::range(1, tn::extent<0>(x)), i), x.at(tn::all, tn::window<2>(i))};
  });
  constexpr auto columns = [](auto x) {
    const auto iteration = [=](auto i, auto sum) { return sum + square(x.at(tn::all, i)) * x(3, i); };
    return sum(tn::fori_loop(5, iteration, tn::zeros_like(x.at(tn::all, 0))));
  };
  const auto slopes = tn::grad([](auto x) { return sum(square(x) * x[3]); })(there(m));
  const auto check = [&](const auto& x) {
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto [column, fourth, element, diagonal, last, later, two] = f(there(x), i);
      same(column, m.at(tn::all, i));
      same(fourth, m.at(tn::all, 3));
      CHECK(on_device::here(element).item() == m(2, i));
      CHECK(on_device::here(diagonal).item() == m(i, i));
      CHECK(on_device::here(last).item() == m(1, 4));
      same(later, m.at(tn::range(1, 4), i));
      same(two, m.at(tn::all, tn::range(i, i + 2)));
    }
    CHECK_THROWS_AS(f(there(x), 5), tn::index_error);
    const auto g = tn::grad(columns)(there(x));
    for (std::int64_t i = 0; i < 20; ++i) CHECK(at(g, i / 5, i % 5) == Approx(at(slopes, i / 5, i % 5)));
  };
  check(rows);
  check(open);
}

TEST_CASE("some rows of one matrix of many are replaced by a step that writes them alone") {
  constexpr auto replaced = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, std::tuple{i, i, 0}); };
  using source = tn::detail::source_of<decltype(replaced), tn::tensor<double, tn::shape<10, 20, 8>>, tn::tensor<double, tn::shape<1, 3, 8>>, tn::tensor<std::int64_t, tn::shape<>>>;
  const tn::ir::builder traced = source::trace();
  int updates = 0, gathers = 0;
  for (int id = 0; id < traced.count(); ++id) {
    updates += traced[id].op == tn::ir::opcode::update;
    gathers += traced[id].op == tn::ir::opcode::gather;
  }
  CHECK(updates == 1);
  CHECK(gathers == 0);
}

TEST_CASE("dynamic_slice and dynamic_update agree with views, also of no element and of all") {
  const matrix m = numbers();
  const auto d = there(numbers());
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      same(tn::dynamic_slice(d, std::tuple{i, j}, tn::shape<2, 3>{}), m.at(tn::window<2>(i), tn::window<3>(j)));
      const tn::tensor<double, tn::shape<2, 3>> y{{-1, -2, -3}, {-4, -5, -6}};
      auto expected = m.clone();
      expected.at(tn::window<2>(i), tn::window<3>(j)).copy_(y);
      same(tn::dynamic_update(d, there(y), std::tuple{i, j}), expected);
      auto row = m.clone();
      row.at(tn::window<1>(i), tn::window<1>(j)).fill_(9);
      same(tn::dynamic_update(d, there(tn::tensor<double, tn::shape<1, 1>>{{9}}), std::tuple{i, j}), row);
    }
  same(tn::dynamic_slice(d, std::tuple{0, 0}, tn::shape<4, 5>{}), m);
  same(tn::dynamic_update(d, there(tn::eval(m * 2.0)), std::tuple{0, 0}), tn::eval(m * 2.0));
  CHECK(tn::dynamic_slice(d, std::tuple{4, 2}, tn::shape<0, 3>{}).size() == 0);
  same(tn::dynamic_update(d, there(tn::zeros<double>(tn::shape<0, 5>{})), std::tuple{4, 0}), m);
  // A start beside constant ones, and a vector, whose start is one integer.
  same(tn::compile([](auto x, auto j) { return tn::dynamic_slice(x, std::tuple{1, j}, tn::shape<2, 3>{}); })(d, 2), m.at(tn::window<2>(1), tn::window<3>(2)));
  same(tn::compile([](auto x, auto j) { return tn::dynamic_slice(x, std::tuple{0, j}, tn::shape<2, 3>{}); })(d, 1), m.at(tn::window<2>(0), tn::window<3>(1)));
  const auto v = there(tn::tensor<std::int32_t, tn::shape<4>>{1, 2, 3, 4});
  CHECK(at(tn::dynamic_slice(v, 1, tn::shape<2>{}), 1) == 3);
  CHECK(at(tn::dynamic_update(v, there(tn::tensor<std::int32_t, tn::shape<2>>{8, 9}), 2), 3) == 9);
  CHECK(at(tn::dynamic_update(there(tn::tensor<bool, tn::shape<3>>{false, false, false}), there(tn::tensor<bool, tn::shape<1>>{true}), 1), 1));
}

TEST_CASE("a block outside its axes throws before a result is written; clamp keeps it inside") {
  const auto d = there(numbers());
  auto out = there(tn::zeros<double>(tn::shape<2, 5>{}));
  constexpr auto f = tn::compile([](auto x, auto i) { return tn::dynamic_slice(x, std::tuple{i, 0}, tn::shape<2, 5>{}); });
  CHECK_THROWS_WITH(f.into(out)(d, 3), "tenure: dynamic_slice: a block of 2 at index 3 is outside an axis of 4");
  CHECK(at(out, 0, 0) == 0);
  CHECK_THROWS_AS(f(d, -1), tn::index_error);
  const auto y = there(tn::zeros<double>(tn::shape<2, 5>{}));
  CHECK_THROWS_WITH(tn::dynamic_update(d, y, std::tuple{3, 0}), "tenure: dynamic_update: a block of 2 at index 3 is outside an axis of 4");
  constexpr auto inside = tn::compile([](auto x, auto i) { return tn::dynamic_slice(x, std::tuple{tn::clamp(i, 0, 2), 0}, tn::shape<2, 5>{}); });
  same(inside(d, 7), f(d, 2));
  same(inside(d, -7), f(d, 0));
  on_device::tensor<double, tn::shape<tn::dyn>> x(2);
  CHECK_THROWS_WITH(tn::dynamic_slice(x, 0, tn::shape<3>{}), "tenure: dynamic_slice: 2 is less than the 3 that it takes");
}

TEST_CASE("a refused block names itself, its place and its axis: at once, compiled, in a loop, for samples and in a gradient") {
  constexpr auto written = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, i); };
  constexpr auto three = [](auto x, auto i) { return tn::dynamic_slice(x, i, tn::shape<3>{}); };
  constexpr auto computed = [](auto x, auto y, auto i) {
    return std::tuple{tn::dynamic_update(x, y, i + 1), tn::dynamic_slice(x, 2 * i, tn::shape<3>{}), x[tn::window<3>(i + 3)], tn::dynamic_slice(x, i + 6, tn::shape<0>{}), x[i + 5]};
  };
  constexpr auto trip_count = [](auto x, auto y, auto n) {
    const auto iteration = [=](auto s) { return std::tuple{std::get<0>(s) + 1, tn::dynamic_update(std::get<1>(s), y, std::get<0>(s))}; };
    return std::get<1>(tn::while_loop([=](auto s) { return std::get<0>(s) < n; }, iteration, std::tuple{n * 0, x}));
  };
  constexpr auto slopes = [](auto x, auto y, auto n) {
    const auto iteration = [=](auto i, auto sum_of) { return sum_of + sum(square(tn::dynamic_slice(x, i + n, tn::shape<3>{}) * y)); };
    return tn::fori_loop(2, iteration, sum(x) * 0.0);
  };
  const std::string of_update = "tenure: dynamic_update: a block of 3 at index ", of_slice = "tenure: dynamic_slice: a block of 3 at index ", outside = " is outside an axis of 6";
  const auto y = there(tn::tensor<double, tn::shape<3>>{1, 2, 3});
  const auto samples = there(tn::tensor<std::int64_t, tn::shape<3>>{0, 5, 3});
  const auto x = there(counted(6));
  CHECK_THROWS_WITH(tn::dynamic_update(x, y, 4), of_update + "4" + outside);
  CHECK_THROWS_WITH(tn::dynamic_slice(x, -1, tn::shape<3>{}), of_slice + "-1" + outside);
  CHECK_THROWS_WITH(tn::dynamic_slice(x, 7, tn::shape<0>{}), "tenure: dynamic_slice: a block of 0 at index 7" + outside);
  CHECK_THROWS_WITH(tn::dynamic_slice(x, 6, tn::shape<1>{}), "tenure: dynamic_slice: index 6" + outside);
  const auto f = tn::compile(computed);
  CHECK(at(std::get<2>(f(x, y, 0)), 0) == 9);
  CHECK_THROWS_WITH(f(x, y, 3), of_update + "4" + outside);
  CHECK_THROWS_WITH(f(x, y, 2), of_slice + "4" + outside);
  CHECK_THROWS_WITH(f(x, y, 1), "tenure: at: a block of 3 at index 4" + outside);
  CHECK_THROWS_WITH(f(x, y, -2), of_update + "-1" + outside);
  CHECK(at(tn::compile(trip_count)(x, y, 4), 5) == 3);
  CHECK_THROWS_WITH(tn::compile(trip_count)(x, y, 5), of_update + "4" + outside);
  CHECK_THROWS_WITH(tn::grad(slopes)(x, y, 3), of_slice + "4" + outside);
  CHECK_THROWS_WITH((tn::vmap<tn::unmapped, tn::unmapped, 0>(written)(x, y, samples)), of_update + "5" + outside);
  CHECK_THROWS_WITH((tn::vmap<tn::unmapped, 0>(three)(x, samples)), of_slice + "5" + outside);
}

TEST_CASE("gradients of blocks are those of central differences, in the tensor and in the update") {
  const matrix m = numbers();
  constexpr auto read = [](auto x, auto i, auto j) { return sum(square(tn::dynamic_slice(x, std::tuple{i, j}, tn::shape<2, 2>{}))) + sum(x[i] * x.at(1, j)); };
  check_gradient(read, m, 1, 2);
  constexpr auto write = [](auto x, auto i) {
    const auto y = x.at(tn::range<0, 2>(), tn::range<1, 4>());
    return sum(square(tn::dynamic_update(x, y * 2.0, std::tuple{i, i})) * x) + sum(square(tn::dynamic_update(x, x.at(tn::range<0, 1>(), tn::all), std::tuple{i, 0})));
  };
  check_gradient(write, m, 2);
  auto w = there(tn::variable<double, tn::shape<3>>{1, 2, 3});
  sum(tn::dynamic_slice(w, 1, tn::shape<2>{}) * 4.0).backward();
  CHECK(at(w.grad(), 0) == 0);
  CHECK(at(w.grad(), 2) == 4);
}

TEST_CASE("ranges up to the end: views of tensors, and of traced values with static and run-time axes") {
  const matrix m = numbers();
  auto view = m.at(tn::range<1, tn::end>(), tn::range<0, tn::end - 2, 2>());
  STATIC_REQUIRE(std::is_same_v<decltype(view)::shape_type, tn::shape<3, 2>>);
  CHECK(view(2, 1) == m(3, 2));
  CHECK(m[tn::range(1, tn::end - 1)].extents() == tn::extents{2, {2, 5}});
  CHECK_THROWS_AS(m[tn::range(3, tn::end - 2)], tn::index_error);
  same(tn::compile([](auto x) { return x.at(tn::range<1, tn::end>(), tn::range<0, tn::end - 2, 2>()); })(there(m)), view);
  for (const std::int64_t n : {1, 2, 3, 9}) {
    INFO(n << " elements");
    const open_vector x = counted(n);
    const auto y = tn::compile(differences)(there(x));
    REQUIRE(y.size() == n - 1);
    for (std::int64_t i = 0; i + 1 < n; ++i) CHECK(at(y, i) == static_cast<double>(2 * i + 1));
    const auto g = tn::grad([](auto a) { return sum(square(differences(a))); })(there(x));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto d = [&](std::int64_t k) { return k < 0 || k + 1 >= n ? 0.0 : static_cast<double>(2 * k + 1); };
      CHECK(at(g, i) == 2 * d(i - 1) - 2 * d(i));
    }
    const auto [push, tangent] = tn::jvp(differences)(there(x), there(x));
    same(tangent, push);
    CHECK(tn::compile([](auto a) { return a[tn::range<1, tn::end, 3>()]; })(there(x)).size() == (n + 1) / 3);
  }
  const auto none = there(counted(0));
  CHECK_THROWS_WITH(tn::compile(differences)(none), "tenure: at: there is no element");
}

TEST_CASE("ranges between two positions that count from the end: views of tensors, and of traced values with static and run-time axes") {
  static constexpr auto last_three = [](const auto& x) { return x[tn::range<tn::end - 3, tn::end>()]; };
  static constexpr auto every_other = [](const auto& x) { return x[tn::range<tn::end - 4, tn::end - 1, 2>()]; };
  static constexpr auto open = [](const auto& x) { return x[tn::range(tn::end - 3, tn::end - 1)]; };
  const matrix m = numbers();
  STATIC_REQUIRE(std::is_same_v<decltype(last_three(m))::shape_type, tn::shape<3, 5>>);
  STATIC_REQUIRE(std::is_same_v<decltype(last_three(counted(4)))::shape_type, tn::shape<3>>);
  same(last_three(m), m[tn::range(1, 4)]);
  same(every_other(m), m[tn::range(0, 3, 2)]);
  same(open(m), m[tn::range(1, 3)]);
  same(tn::compile(last_three)(there(m)), last_three(m));
  same(tn::compile(every_other)(there(m)), every_other(m));
  same(tn::compile(open)(there(m)), open(m));
  for (const std::int64_t n : {4, 5, 9}) {
    INFO(n << " elements");
    const open_vector x = counted(n);
    same(last_three(x), x[tn::range(n - 3, n)]);
    same(tn::compile(last_three)(there(x)), last_three(x));
    same(tn::compile(every_other)(there(x)), every_other(x));
    same(tn::compile(open)(there(x)), open(x));
    const auto g = tn::grad([](auto a) { return sum(square(last_three(a))); })(there(x));
    for (std::int64_t i = 0; i < n; ++i) CHECK(at(g, i) == (i < n - 3 ? 0 : 2 * at(there(x), i)));
  }
  CHECK_THROWS_AS(last_three(counted(2)), tn::index_error);
  CHECK_THROWS_AS(open(m[tn::range(0, 2)]), tn::index_error);
  CHECK_THROWS_WITH(tn::compile(last_three)(there(counted(2))), "tenure: at: 2 is less than the 3 that it takes");
}

TEST_CASE("ranges up to an extent, and with bounds that the trace knows, are those of a tensor") {
  // One text for tensors and traced values, on run-time and on static axes.
  static constexpr auto shifts = [](const auto& x) {
    const auto n = tn::extent<0>(x);
    return x[tn::range(1, n)] - x[tn::range(0, n - 1)];
  };
  constexpr auto every_other = [](const auto& x) { return x[tn::range(1, tn::extent<0>(x) - 1, 2)]; };
  for (const std::int64_t n : {2, 3, 4, 9}) {
    INFO(n << " elements");
    const open_vector x = counted(n);
    same(tn::compile(shifts)(there(x)), tn::tensor(shifts(x)));
    same(tn::compile(every_other)(there(x)), every_other(x));
    const auto g = tn::grad([](auto a) { return sum(square(shifts(a))); })(there(x));
    same(g, tn::grad([](auto a) { return sum(square(differences(a))); })(there(x)));
    const auto [push, tangent] = tn::jvp(shifts)(there(x), there(x));
    same(tangent, push);
  }
  const auto none = there(counted(0)), one = there(counted(1));
  CHECK_THROWS_WITH(tn::compile(shifts)(none), "tenure: at: there is no element");
  CHECK(tn::compile(shifts)(one).size() == 0);
  CHECK_THROWS_AS(tn::compile(every_other)(one), tn::shape_error);

  // A part of an extent.
  static constexpr auto halves = [](const auto& x) {
    const auto n = tn::extent<0>(x), half = tn::floor_divide(n, 2);
    return x[tn::range(0, half)] + x[tn::range(0, tn::floor_divide(n + 2, 2) - 1)] + x[tn::range(0, 2 * half, 2)];
  };
  for (const std::int64_t n : {2, 4, 6}) same(tn::compile(halves)(there(counted(n + 1))[tn::range(0, n)]), tn::tensor(tn::eval(halves(counted(n)))));

  // An extent that the graph knows though the type does not.
  constexpr auto inner = tn::compile([](auto x) {
    const auto y = x[tn::range(0, 4)];
    return y[tn::range(1, tn::extent<0>(y))];
  });
  same(inner(there(counted(6))), counted(6)[tn::range(1, 4)]);
  // x and x up to its extent are known to have one length: the run-time extents of the graph are n and n - 1.
  constexpr auto whole = [](auto x) {
    const auto n = tn::extent<0>(x);
    return x[tn::range(0, n)] - x + sum(x[tn::range(1, n)] - x[tn::range<1, tn::end>()]);
  };
  CHECK(sum(tn::abs(tn::compile(whole)(there(counted(6))))).item() == 0);
  using program = tn::program<tn::detail::source_of<std::remove_const_t<decltype(whole)>, open_vector>>;
  CHECK(program::value.symbol_count == 2);

  // The extent of another argument: its range may be shorter than the axis, not longer.
  constexpr auto up_to = tn::compile([](auto x, auto y) { return x[tn::range(1, tn::extent<0>(y))] * 2.0; });
  same(up_to(there(counted(7)), there(counted(4))), tn::tensor(counted(7)[tn::range(1, 4)] * 2.0));
  CHECK_THROWS_WITH(up_to(there(counted(4)), there(counted(5))), "tenure: at: 4 is less than the 5 that it takes");
  CHECK_THROWS_WITH(up_to(there(counted(4)), none), "tenure: at: there is no element");

  // Integers of a C++ loop, on a static and on a run-time axis. The extents of the results are known only at run time, as those of a view.
  const matrix m = numbers();
  constexpr auto rows = [](const auto& x) {
    auto total = tn::eval(sum(x[tn::range(0, 2)], tn::axis<0>));
    for (int i = 1; i < 3; ++i) total = tn::eval(total + sum(x.at(tn::range(i, i + 2), tn::all), tn::axis<0>));
    return total;
  };
  same(tn::compile(rows)(there(m)), tn::tensor(rows(m)));
  constexpr auto parts = tn::compile([](auto x) { return std::tuple{x[tn::range(1, 4)], x.at(tn::all, tn::range(1, tn::end, 2)), x[tn::range(2, 2)]}; });
  const auto [middle, columns, nothing] = parts(there(m));
  same(middle, m[tn::range(1, 4)]);
  same(columns, m.at(tn::all, tn::range(1, tn::end, 2)));
  CHECK(nothing.extents() == tn::extents{2, {0, 5}});
  constexpr auto open_part = tn::compile([](auto x) { return x[tn::range(2, 4)]; });
  same(open_part(there(counted(5))), counted(5)[tn::range(2, 4)]);
  CHECK_THROWS_AS(open_part(there(counted(3))), tn::shape_error);
  check_gradient([](auto x) { return sum(square(x[tn::range(1, 3)])) + sum(x.at(tn::range(0, tn::end - 2), tn::range(1, 5, 3))); }, m);
}

TEST_CASE("lengths that follow from differences are known to be equal, others are checked") {
  // Second differences in two ways, and a shift with a zero in front: their lengths need no check.
  constexpr auto f = tn::compile([](auto x) {
    const auto inner = differences(differences(x)) - (x[tn::range<2, tn::end>()] - 2.0 * x[tn::range<1, tn::end - 1>()] + x[tn::range<0, tn::end - 2>()]);
    const auto shifted = tn::concat(tn::zeros_like(x[tn::range<0, 1>()]), x[tn::range<0, tn::end - 1>()]);
    return std::tuple{inner, x - shifted};
  });
  const auto [zero, first] = f(there(counted(6)));
  CHECK(sum(tn::abs(zero)).item() == 0);
  CHECK(at(first, 5) == 9);
  constexpr auto wrong = tn::compile([](auto x, auto y) { return x[tn::range<1, tn::end>()] + y; });
  CHECK_THROWS_AS(wrong(there(counted(6)), there(counted(6))), tn::shape_error);
  CHECK(wrong(there(counted(6)), there(counted(5))).size() == 5);
  // Indices of static and run-time axes.
  constexpr auto rows = tn::compile([](auto x, auto i) { return x[2] + x[i] + sum(x[tn::window<2>(1)]); });
  CHECK(rows(there(counted(4)), 3).item() == 4 + 9 + 1 + 4);
  CHECK_THROWS_AS(rows(there(counted(2)), 1), tn::shape_error);
  CHECK_THROWS_AS(rows(there(counted(3)), 3), tn::index_error);
}
