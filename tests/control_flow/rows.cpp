// SPDX-License-Identifier: BSL-1.0
// Iterations that read, add to or check one row at a computed position: in small bodies a row is read where it is, without a copy. Law: the results are
// those of the reference backend, and what an iteration overwrites is never read afterwards.
#include "../difference.hpp"
#include "../quick.hpp"
#include "reference.hpp"

namespace tn = tenure;
using judged::agrees_with_reference;
using table = tn::tensor<double, tn::shape<5, 3>>;
using table_of_run = tn::tensor<double, tn::shape<tn::dyn, 3>>;
using indices = tn::tensor<std::int64_t, tn::shape<4>>;

namespace {

const table rows = [] {
  table x = tn::zeros<double>(tn::shape<5, 3>());
  for (std::size_t i = 0; i < 15; ++i) tn::as_span(x)[i] = std::sin(1 + 0.7 * static_cast<double>(i));
  return x;
}();
table_of_run rows_of_run_time() {
  table_of_run x = tn::zeros<double>(tn::shape<tn::dyn, 3>(), 5);
  x.copy_(rows);
  return x;
}
const indices places{3, 0, 4, 3};

/// One row of x in each iteration, in a body with `More` further steps: few are expanded, many run from a table.
template <int More>
constexpr auto weighted = [](auto x, auto is) {
  const auto iteration = [=](auto c, auto i) {
    const auto row = x[i];
    auto y = c * 0.5 + row;
    for (int k = 0; k < More; ++k) y = y + tn::sum(y) * 0.01;  // a step each: the sum is needed before the next one
    return std::tuple{y, tn::sum(row * row)};
  };
  return tn::scan(iteration, x[0] * 0.0, is);
};
constexpr auto loss = [](auto x, auto is) {
  const auto [c, ys] = weighted<0>(x, is);
  return tn::sum(c * c) + tn::sum(ys);
};
constexpr auto loss_of_many = [](auto x, auto is) {
  const auto [c, ys] = weighted<14>(x, is);
  return tn::sum(c * c) + tn::sum(ys);
};
/// The row is a value of a nested loop, and its first carry.
constexpr auto nested = [](auto x, auto is) {
  const auto iteration = [=](auto c, auto i) {
    const auto row = x[i];
    const auto inner = tn::fori_loop(3, [=](auto, auto s) { return tn::tanh(s * row) + c; }, row);
    return std::tuple{inner, tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, x[1] * 0.1, is));
};
/// One row is the whole array: its memory may be that of the next carry.
constexpr auto single = [](auto x) {
  return tn::fori_loop(4, [](auto i, auto c) { return tn::unsqueeze<0>(c[i * 0] * 2.0 + tn::sum(c)); }, x);
};
/// A branch gives back a changed array and the row that it had before.
constexpr auto branches = [](auto x, auto i) {
  return tn::cond(tn::sum(x) < 100.0, [=] { return std::tuple{x * 2.0, x[i] + 0.0}; }, [=] { return std::tuple{x, x[0] + 1.0}; });
};
constexpr auto branch_of_single = [](auto x, auto i) {
  return tn::cond(tn::sum(x) < 100.0, [=] { return std::tuple{x * 2.0 + tn::sum(x), tn::unsqueeze<0>(x[i]) * 3.0}; }, [=] { return std::tuple{x, x}; });
};
/// A column is not a row: its elements have a stride.
constexpr auto columns = [](auto x, auto is) {
  const auto iteration = [=](auto c, auto i) { return std::tuple{c + tn::sum(tn::gather<1>(x, tn::unsqueeze<0>(i))), tn::nothing}; };
  return std::get<0>(tn::scan(iteration, tn::sum(x) * 0.0, is));
};
/// A column, the middle of three axes, and a row of a transposed array, which are as many rows as the axes before have elements.
constexpr auto many_rows = [](auto x, auto is) {
  const auto boxes = tn::stack(x, x * 2.0, tn::sin(x));
  const auto iteration = [=](auto c, auto i) {
    const auto column = x.at(tn::all, i % 3);
    const auto of_transposed = tn::transpose(x).at(tn::all, i);
    const auto row = tn::transpose(x)[i % 3];
    const auto middle = tn::gather<1>(boxes, tn::unsqueeze<0>(i));
    return std::tuple{c * 0.5 + tn::sum(column * row) + tn::sum(of_transposed), std::tuple{column, of_transposed, middle}};
  };
  return tn::scan(iteration, 0.0 * tn::sum(x), is);
};
/// Tables that repeat their elements along an axis before the position, behind it, and along both.
constexpr auto repeated = [](auto x, auto is) {
  const auto iteration = [=](auto c, auto i) {
    const auto before = tn::expand<5, 2, 3>(tn::unsqueeze<1>(x)).at(tn::all, tn::all, i % 3);
    const auto behind = tn::expand<5, 3, 2>(tn::unsqueeze<2>(x)).at(tn::all, i % 3, tn::all);
    const auto first = tn::expand<2, 5, 3>(tn::unsqueeze<0>(x)).at(tn::all, i, tn::all);
    const auto all = tn::expand<4, 5, 2, 3>(tn::unsqueeze<0>(tn::unsqueeze<1>(x))).at(tn::all, tn::all, tn::all, i % 3);
    return std::tuple{c + tn::sum(before * behind), std::tuple{before, behind, first, all}};
  };
  return tn::scan(iteration, 0.0 * tn::sum(x), is);
};
/// A column of the carry is replaced, and another one is added to.
constexpr auto changed_columns = [](auto x, auto is) {
  const auto iteration = [](auto c, auto i) {
    const auto at = tn::unsqueeze<0>(i % 3);
    const auto added = tn::index_add<1>(c, at, tn::cos(tn::gather<1>(c, at)));
    const auto updated = tn::vmap<0, tn::unmapped>([](auto row, auto at) { return tn::dynamic_update(row, tn::stack(tn::sum(row)), at); })(added, (i + 1) % 3);
    return std::tuple{updated, tn::sum(updated)};
  };
  return tn::scan(iteration, x, is);
};
constexpr auto sum_of_many_rows = [](auto x, auto is) {
  const auto [c, ys] = many_rows(x, is);
  const auto [a, b, m] = ys;
  return c * c + tn::sum(a * a) + tn::sum(tn::sin(b)) + tn::sum(m * m);
};
constexpr auto sum_of_changed_columns = [](auto x, auto is) {
  const auto [c, ys] = changed_columns(x, is);
  return tn::sum(c * c) + tn::sum(ys * ys);
};
/// index_add to the array that the loop carries, at one position and at two.
constexpr auto added = [](auto x, auto is) {
  const auto iteration = [](auto c, auto i) { return std::tuple{tn::index_add<0>(c, tn::unsqueeze<0>(i), tn::unsqueeze<0>(tn::sin(c[i]))), tn::sum(c)}; };
  return tn::scan(iteration, x, is);
};
constexpr auto added_twice = [](auto x, auto is) {
  const auto iteration = [](auto c, auto i) {
    const auto both = tn::stack(i, i);
    return std::tuple{tn::index_add<0>(c, both, tn::gather<0>(c * 0.5, both)), tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, x, is));
};
/// A small iteration changes the row that it has read, by index_add or by an update.
template <bool Adds>
constexpr auto changed = [](auto x, auto is) {
  const auto iteration = [=](auto c, auto i) {
    if constexpr (Adds) return std::tuple{c + 0.1 * tn::sum(tn::index_add<0>(x[i], tn::unsqueeze<0>(i * 0 + 1), tn::unsqueeze<0>(c + 1.0))), tn::nothing};
    else return std::tuple{c + 0.1 * tn::sum(tn::dynamic_update(x[i], tn::stack(c + 1.0, c), i % 2)), tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, 0.0 * tn::sum(x), is));
};
constexpr auto sum_of_added = [](auto x, auto is) {
  const auto [c, ys] = added(x, is);
  return tn::sum(c * c) + tn::sum(ys * ys);
};

/// agrees_with_reference() of the programs that are taken.
template <bool Takes, class F, class... X>
void agrees_if(const char* what, F f, const X&... x) {
  if constexpr (Takes) agrees_with_reference(what, f, x...);
}
/// The quick tests take a part of each row of this table, and all of the row -1.
template <int Row, class X>
void judge_rows(const char* what, const X& x) {
  INFO(what);
  agrees_if<Row < 0 || quick::takes(Row, 0)>("few steps", weighted<0>, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 1)>("gradient", tn::value_and_grad<0>(loss), x, places);
  agrees_if<Row < 0 || quick::takes(Row, 2)>("nested", nested, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 3)>("added", added, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 4)>("gradient of added", tn::value_and_grad<0>(sum_of_added), x, places);
  agrees_if<Row < 0 || quick::takes(Row, 5)>("added twice", added_twice, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 6)>("changed by index_add", changed<true>, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 7)>("changed by an update", changed<false>, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 8)>("gradient", tn::value_and_grad<0>(changed<true>), x, places);
  agrees_if<Row < 0 || quick::takes(Row, 9)>("gradient", tn::value_and_grad<0>(changed<false>), x, places);
}
template <int Row, class X>
void judge_columns(const char* what, const X& x) {
  INFO(what);
  agrees_if<Row < 0 || quick::takes(Row, 0)>("read", many_rows, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 1)>("gradient", tn::value_and_grad<0>(sum_of_many_rows), x, places);
  agrees_if<Row < 0 || quick::takes(Row, 2)>("changed", changed_columns, x, places);
  agrees_if<Row < 0 || quick::takes(Row, 3)>("gradient of changed", tn::value_and_grad<0>(sum_of_changed_columns), x, places);
}

}  // namespace

TEST_CASE("a row in each iteration") { judge_rows<-1>("static", rows); }
TEST_CASE("a row of a run-time extent in each iteration") { judge_rows<0>("run-time", rows_of_run_time()); }
TEST_CASE("a column in each iteration") { judge_columns<1>("static", rows); }
TEST_CASE("a column of a run-time extent in each iteration") { judge_columns<0>("run-time", rows_of_run_time()); }
TEST_CASE("a position of a table that repeats its elements") {
  agrees_with_reference("static", repeated, rows, places);
}
TEST_CASE("a row in each iteration, of a body with many steps") {
  agrees_with_reference("static", weighted<14>, rows, places);
  agrees_with_reference("run-time", weighted<14>, rows_of_run_time(), places);
  agrees_with_reference("gradient", tn::grad<0>(loss_of_many), rows, places);
}
TEST_CASE("a row of which a result may have the memory") {
  const tn::tensor<double, tn::shape<1, 3>> one{{0.5, -0.3, 0.8}};
  agrees_with_reference("carry", single, one);
  agrees_with_reference("branch", branches, rows, std::int64_t{2});
  agrees_with_reference("branch of a single row", branch_of_single, one, std::int64_t{0});
  agrees_with_reference("column", columns, rows, indices{2, 0, 1, 2});
}
TEST_CASE("an index outside of the rows is refused in the iteration that reads at it") {
  for (const indices& bad : {indices{3, 0, 5, 3}, indices{3, -1, 4, 3}})
    for (const bool is_static : {true, false}) {
      INFO((is_static ? "static" : "run-time"));
      const auto refused = [&](const auto& f) {
        if (is_static) CHECK_THROWS_AS(f(rows, bad), tn::index_error);
        else CHECK_THROWS_AS(f(rows_of_run_time(), bad), tn::index_error);
      };
      refused(tn::compile(weighted<0>));
      refused(tn::compile(weighted<14>));
      refused(tn::compile(added));
      refused(tn::grad<0>(loss));
      refused(tn::grad<0>(sum_of_added));
    }
}
TEST_CASE("the gradient of a row costs a row in each iteration, and not the table") {
  using big = tn::tensor<double, tn::shape<1000, 3>>;
  using many = tn::tensor<std::int64_t, tn::shape<1000>>;
  using plan = decltype(tn::grad<0>(loss).plan(big(), many()));
  constexpr std::int64_t table = 1000 * 3 * 8, trip_count = 1000;
  STATIC_REQUIRE(plan::bytes() < 30 * table);  // with a pass over the table in each iteration it would be 1000 tables
  STATIC_REQUIRE(plan::bytes() > table + trip_count);
}
