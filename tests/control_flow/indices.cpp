// SPDX-License-Identifier: BSL-1.0
// An index that the program computes is checked wherever something reads at it: in every control-flow operation, also where only a gradient is left that reads it.
// A branch checks what it reads, so its condition may guard an index. With good indices the results are those of the reference backend.
#include "../quick.hpp"
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<4>>;
using matrix = tn::tensor<double, tn::shape<4, 2>>;
using indices = tn::tensor<std::int64_t, tn::shape<3>>;
using place = tn::tensor<std::int64_t, tn::shape<>>;

namespace {

// ---- what reads at an index of j, a number ----

constexpr auto element = [](auto x, auto j, auto k) { return tn::sum(x[j[k]]); };
constexpr auto doubled = [](auto x, auto j, auto k) { return tn::sum(x[j[k] * 2]); };
constexpr auto of_view = [](auto x, auto j, auto k) { return tn::sum(x.at(j.at(k))); };
constexpr auto window = [](auto x, auto j, auto k) { return tn::sum(x[tn::window<1>(j[k])]); };
constexpr auto gathered = [](auto x, auto j, auto k) { return tn::sum(tn::gather<0>(x, tn::unsqueeze<0>(j[k]))); };
constexpr auto updated = [](auto x, auto j, auto k) { return tn::sum(x * tn::dynamic_update(x, x[tn::range<0, 1>()] * 2.0, std::tuple{j[k]})); };

// ---- where ----

template <auto Read>
constexpr auto plain = [](auto x, auto j, auto k) { return Read(x, j, k); };
template <auto Read>
constexpr auto in_scan = [](auto x, auto j, auto k) {
  return std::get<0>(tn::scan([=](auto c, auto i) { return std::tuple{c + Read(x, j, i), tn::nothing}; }, 0.0 * tn::sum(x), tn::index_along<0>(j) * 0 + k));
};
template <auto Read>
constexpr auto in_iterations = [](auto x, auto j, auto k) { return tn::fori_loop(3, [=](auto i, auto c) { return c + Read(x, j, i * 0 + k); }, 0.0 * tn::sum(x)); };
template <auto Read>
constexpr auto in_while = [](auto x, auto j, auto k) {
  const auto iteration = [=](auto s) { return std::tuple{std::get<0>(s) + Read(x, j, k + std::get<1>(s) * 0), std::get<1>(s) + 1}; };
  return std::get<0>(tn::while_loop([](auto s) { return std::get<1>(s) < 2; }, iteration, std::tuple{0.0 * tn::sum(x), 0}));
};
template <auto Read>
constexpr auto in_branch = [](auto x, auto j, auto k) { return tn::cond(tn::sum(x) > 0.0, [=] { return Read(x, j, k); }, [=] { return 0.0 * tn::sum(x); }); };
template <auto Read>
constexpr auto in_checkpoint = [](auto x, auto j, auto k) { return tn::checkpoint([=](auto y) { return Read(y, j, k); })(x); };
template <auto Read>
constexpr auto in_batch = [](auto x, auto j, auto k) {
  return tn::sum(tn::vmap<0>([=](auto i) { return Read(x, j, i); })(tn::index_along<0>(j) * 0 + k));
};

constexpr auto guarded = [](auto x, auto i) { return tn::cond(i < 4, [=] { return tn::square(x[i]); }, [=] { return 7.0 + 0.0 * tn::sum(x); }); };

template <auto F, class X>
void judge(const char* what, const X& x) {
  INFO(what);
  const indices good{0, 1, 1}, bad{1, 0, 9}, below{1, 0, -9};
  const place second = 1, third = 2;
  const auto squared = [](auto x, auto j, auto k) { return tn::square(F(x, j, k)); };
  constexpr auto linear_gradient = tn::grad<0>(F);  // nothing needs the value
  constexpr auto gradient = tn::value_and_grad<0>(squared);
  constexpr auto tangent = tn::jvp<0>(F);
  judged::agree(linear_gradient(x, good, second), judged::by_reference(linear_gradient.function, x, good, second), 1e-13);
  judged::agree(gradient(x, good, second), judged::by_reference(gradient.function, x, good, second), 1e-13);
  for (const indices* j : {&bad, &below}) {
    CHECK_THROWS_AS(tn::compile(F)(x, *j, third), tn::index_error);
    CHECK_THROWS_AS(tangent(x, *j, third, x), tn::index_error);
    X target = tn::full_like(x, 3.0);
    CHECK_THROWS_AS(linear_gradient.into(target)(x, *j, third), tn::index_error);
    CHECK_THROWS_AS(gradient(x, *j, third), tn::index_error);
    for (const double e : tn::as_span(target)) CHECK(e == 3);
  }
}

/// Row: which row of the table of readers and places this is.
template <auto Read, int Row, class X>
void judge_everywhere(const X& x) {
  if constexpr (quick::takes(Row, 0)) judge<plain<Read>>("plain", x);
  if constexpr (quick::takes(Row, 1)) judge<in_scan<Read>>("scan", x);
  if constexpr (quick::takes(Row, 2)) judge<in_iterations<Read>>("fori_loop", x);
  if constexpr (quick::takes(Row, 3)) judge<in_while<Read>>("while_loop", x);
  if constexpr (quick::takes(Row, 4)) judge<in_branch<Read>>("cond", x);
  if constexpr (quick::takes(Row, 5)) judge<in_checkpoint<Read>>("checkpoint", x);
  if constexpr (quick::takes(Row, 6)) judge<in_batch<Read>>("vmap", x);
}

}  // namespace

TEST_CASE("an element at a computed index") { judge_everywhere<element, 0>(vector{0.5, 0.8, -0.3, 1.1}); }
TEST_CASE("a row at a computed index") { judge_everywhere<element, 1>(matrix{{0.5, 0.8}, {-0.3, 1.1}, {1, 2}, {3, 4}}); }
TEST_CASE("an element at an index with arithmetic") { judge_everywhere<doubled, 2>(vector{0.5, 0.8, -0.3, 1.1}); }
TEST_CASE("a view at a view of the indices") { judge_everywhere<of_view, 3>(vector{0.5, 0.8, -0.3, 1.1}); }
TEST_CASE("a window at a computed index") { judge_everywhere<window, 4>(vector{0.5, 0.8, -0.3, 1.1}); }
TEST_CASE("gather at a computed index") { judge_everywhere<gathered, 5>(vector{0.5, 0.8, -0.3, 1.1}); }
TEST_CASE("an update at a computed index") { judge_everywhere<updated, 6>(vector{0.5, 0.8, -0.3, 1.1}); }

TEST_CASE("an element at a computed index of a run-time extent") {
  judge_everywhere<element, 7>(tn::tensor<double, tn::shape<tn::dyn>>(vector{0.5, 0.8, -0.3, 1.1}));
  judge_everywhere<element, 8>(tn::tensor<double, tn::shape<tn::dyn, 2>>(matrix{{0.5, 0.8}, {-0.3, 1.1}, {1, 2}, {3, 4}}));
}
TEST_CASE("an element at the position of an iteration, of a run-time extent and of run-time iterations") {
  constexpr auto weighted = [](auto x, auto trip_count) { return tn::fori_loop(trip_count, [=](auto i, auto s) { return s * 0.5 + x[i]; }, 0.0); };
  constexpr auto gradient = tn::value_and_grad<0>(weighted);
  const tn::tensor<double, tn::shape<tn::dyn>> x(vector{0.5, 0.8, -0.3, 1.1});
  for (const std::int64_t trip_count : {0, 1, 3, 4}) judged::agree(gradient(x, trip_count), judged::by_reference(gradient.function, x, trip_count), 1e-15);
  CHECK_THROWS_AS(gradient(x, std::int64_t{5}), tn::index_error);
}

TEST_CASE("a condition guards an index from outside the branch") {
  constexpr auto by_gather = [](auto x, auto i) {
    return tn::cond(i < 4, [=] { return tn::sum(tn::gather<0>(x, tn::unsqueeze<0>(i))); }, [=] { return 7.0 + 0.0 * tn::sum(x); });
  };
  constexpr auto twice = [](auto x, auto i) {  // a branch in a branch, with an index from outside both
    return tn::cond(i < 8, [=] { return tn::cond(i < 4, [=] { return x[i]; }, [=] { return 5.0 + 0.0 * x[0]; }); }, [=] { return 7.0 + 0.0 * x[0]; });
  };
  const vector x{0.5, 0.8, -0.3, 1.1};
  CHECK(tn::compile(guarded)(x, std::int64_t{9}).item() == 7);
  CHECK(tn::compile(guarded)(x, std::int64_t{1}).item() == Approx(0.64));
  CHECK(tn::compile(by_gather)(x, std::int64_t{9}).item() == 7);
  CHECK(tn::compile(twice)(x, std::int64_t{9}).item() == 7);
  CHECK(tn::compile(twice)(x, std::int64_t{6}).item() == 5);
  CHECK(tn::compile(twice)(x, std::int64_t{3}).item() == 1.1);
  CHECK(tn::grad<0>(guarded)(x, std::int64_t{9})(1) == 0);
  CHECK(tn::grad<0>(guarded)(x, std::int64_t{1})(1) == Approx(1.6));
  CHECK(std::get<1>(tn::jvp<0>(guarded)(x, std::int64_t{9}, x)).item() == 0);
  CHECK(tn::hessian<0>(guarded)(x, std::int64_t{1})(1, 1) == 2);
  CHECK_THROWS_AS(tn::compile(guarded)(x, std::int64_t{-1}), tn::index_error);
  CHECK_THROWS_AS(tn::grad<0>(guarded)(x, std::int64_t{-1}), tn::index_error);

  const indices is{1, 9, 3}, bad{1, 9, -3};
  constexpr auto each = tn::vmap<tn::unmapped, 0>(guarded);
  const tn::tensor ys = each(x, is);
  CHECK(ys(0) == Approx(0.64));
  CHECK(ys(1) == 7);
  CHECK(ys(2) == Approx(1.21));
  CHECK_THROWS_AS(each(x, bad), tn::index_error);
  constexpr auto sum_of = [](auto x, auto is) { return std::get<0>(tn::scan([=](auto c, auto i) { return std::tuple{c + guarded(x, i), tn::nothing}; }, 0.0 * x[0], is)); };
  CHECK(tn::compile(sum_of)(x, is).item() == Approx(0.64 + 7 + 1.21));
  CHECK(tn::grad<0>(sum_of)(x, is)(3) == Approx(2.2));
  CHECK_THROWS_AS(tn::compile(sum_of)(x, bad), tn::index_error);
  CHECK_THROWS_AS(tn::grad<0>(sum_of)(x, bad), tn::index_error);
}

TEST_CASE("results of a loop whose index leaves its range half way are not written") {
  constexpr auto walk = [](auto x, auto rows, auto from) { return std::get<1>(tn::scan([=](auto i, auto row) { return std::tuple{i + 1, row * x[i]}; }, from, rows)); };
  const vector x{0.5, 0.8, -0.3, 1.1};
  const matrix rows{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  matrix y = tn::full_like(rows, 3.0);
  CHECK_THROWS_AS(tn::compile(walk).into(y)(x, rows, std::int64_t{2}), tn::index_error);  // two iterations have passed
  for (const double e : tn::as_span(y)) CHECK(e == 3);
  tn::compile(walk).into(y)(x, rows, std::int64_t{0});
  CHECK(y(2, 1) == 6 * -0.3);
}
