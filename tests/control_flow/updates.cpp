// SPDX-License-Identifier: BSL-1.0
// dynamic_update of arrays that are too large for a kernel around it: a step that writes the block only, where nothing reads the old array
// afterwards. Here in loops. Law: it is the update of a copy.
#include "../difference.hpp"
#include "reference.hpp"

namespace tn = tenure;
using table = tn::tensor<double, tn::shape<40, 3>>;
using judged::agrees_with_reference;

namespace {

table counted(double from = 0) {
  table t = tn::zeros<double>(tn::shape<40, 3>());
  for (std::size_t i = 0; i < 120; ++i) tn::as_span(t)[i] = std::sin(from + 0.7 * static_cast<double>(i));
  return t;
}

constexpr auto put = [](auto x, auto row, auto i) { return tn::dynamic_update(x, tn::unsqueeze<0>(row), std::tuple{i, 0}); };
/// A ring of rows. Each iteration reads the row that it replaces: before the update, or the old array after it.
template <bool ReadsAfter>
constexpr auto ring = [](auto cache, auto xs, auto first) {
  const auto iteration = [](auto state, auto x) {
    const auto [c, i] = state;
    if constexpr (ReadsAfter) {
      const auto next = put(c, x + c[0], i);
      return std::tuple{std::tuple{next, i + 1}, sum(c * next)};
    } else {
      const auto old = c[i];
      return std::tuple{std::tuple{put(c, sin(old) + x, i), i + 1}, sum(old * x)};
    }
  };
  const auto [last, ys] = tn::scan(iteration, std::tuple{cache, first}, xs);
  return std::tuple{std::get<0>(last), ys};
};
template <bool ReadsAfter>
constexpr auto loss = [](auto cache, auto xs, auto first) {
  const auto [last, ys] = ring<ReadsAfter>(cache, xs, first);
  return sum(square(last)) + sum(ys);
};

}  // namespace

TEST_CASE("a loop updates the array that it carries: in place, and with the old array still read") {
  const table cache = counted();
  tn::tensor<double, tn::shape<5, 3>> xs = tn::zeros<double>(tn::shape<5, 3>());
  for (std::size_t i = 0; i < 15; ++i) tn::as_span(xs)[i] = std::cos(static_cast<double>(i));
  agrees_with_reference("in place", ring<false>, cache, xs, std::int64_t{33});
  agrees_with_reference("read afterwards", ring<true>, cache, xs, std::int64_t{33});
  agrees_with_reference("gradient in place", tn::grad<0, 1>(loss<false>), cache, xs, std::int64_t{33});
  agrees_with_reference("gradient, read afterwards", tn::grad<0, 1>(loss<true>), cache, xs, std::int64_t{33});
  const auto [gc, gx] = tn::grad<0, 1>(loss<false>)(cache, xs, std::int64_t{33});
  const auto value = [&](const auto& c) { return tn::compile(loss<false>)(c, xs, std::int64_t{33}).item(); };
  for (const std::size_t at : {0u, 100u, 119u}) {
    table up = tn::deepcopy(cache), down = tn::deepcopy(cache);
    tn::as_span(up)[at] += 1e-6, tn::as_span(down)[at] -= 1e-6;
    CHECK(gc.data()[at] == Approx((value(up) - value(down)) / 2e-6).epsilon(1e-6).margin(1e-8));
  }
  // The carry has one place: the results and the indices need no second array.
  using plan = decltype(tn::compile(ring<false>).plan(cache, xs, std::int64_t{}));
  static_assert(plan::workspace_bytes() < 2 * 960);
}

TEST_CASE("what an iteration computes before an update, and two updates, have the memory of the carry") {
  static constexpr auto f = [](auto cache, auto xs) {
    const auto iteration = [](auto c, auto i) { return put(put(0.5 * c, tn::cos(c[i]), i), tn::sin(c[0]), i + 7); };
    return tn::fori_loop(5, [=](auto i, auto c) { return iteration(c + xs[i][0], i); }, cache);
  };
  const table cache = counted();
  const tn::tensor<double, tn::shape<5, 3>> xs = tn::ones<double>(tn::shape<5, 3>());
  agrees_with_reference("two updates", f, cache, xs);
  agrees_with_reference("gradient of two updates", tn::grad<0, 1>([](auto c, auto x) { return sum(square(f(c, x))); }), cache, xs);
  constexpr auto in_place = [](auto c, auto x) { return tn::fori_loop(5, [=](auto i, auto state) { return put(put(0.5 * state, x[i], i), 2.0 * x[i], i + 7); }, c); };
  agrees_with_reference("in place", in_place, cache, xs);
  using plan = decltype(tn::compile(in_place).plan(cache, xs));
  static_assert(plan::workspace_bytes() < 960);
}

/// An iteration that updates the carry, or not; in a branch in a branch too. ReadsAfter: the old array is read beside the new one.
template <bool ReadsAfter>
constexpr auto in_branches = [](auto cache, auto xs) {
  const auto iteration = [](auto state, auto x) {
    const auto c = std::get<0>(state);  // not a structured binding, which clang does not capture
    const auto i = std::get<1>(state);
    const auto old = sum(c[i] * x);
    const auto other = [=] { return tn::cond(x[1] > 0.0, [=] { return 0.5 * c; }, [=] { return put(put(c, x, i), 2.0 * x, i + 9); }); };
    const auto next = tn::cond(x[0] > 0.0, [=] { return put(c, sin(c[i]) + x, i); }, [=] { return tn::cond(x[2] > 0.0, [=] { return c; }, other); });
    if constexpr (ReadsAfter) return std::tuple{std::tuple{next, i + 1}, sum(next * c)};
    else return std::tuple{std::tuple{next, i + 1}, old};
  };
  const auto [last, ys] = tn::scan(iteration, std::tuple{cache, std::int64_t{20}}, xs);
  return std::tuple{std::get<0>(last), ys};
};

TEST_CASE("a branch updates the array that the loop carries, in place") {
  const table cache = counted();
  const tn::tensor<double, tn::shape<5, 3>> xs = {{1, 2, 3}, {-1, 2, -3}, {-1, 2, 3}, {-1, -2, -3}, {2, 1, 0}};
  agrees_with_reference("in place", in_branches<false>, cache, xs);
  agrees_with_reference("read afterwards", in_branches<true>, cache, xs);
  using plan = decltype(tn::compile(in_branches<false>).plan(cache, xs));
  static_assert(plan::workspace_bytes() < 960);
  using copying = decltype(tn::compile(in_branches<true>).plan(cache, xs));
  static_assert(copying::workspace_bytes() >= 960);
}

TEST_CASE("a plan counts the rows that a gather reads, and of an update in place the block") {
  constexpr std::int64_t number = sizeof(double), index = sizeof(std::int32_t), row = 3 * number, whole = 40 * row;
  using indices = tn::tensor<std::int32_t, tn::shape<8>>;
  constexpr auto rows = [](auto x, auto i) { return tn::gather(x, i); };
  using of_table = decltype(tn::compile(rows).plan(table(), indices()));
  STATIC_REQUIRE(of_table::bytes() == 8 * index + 8 * row + 8 * row);
  using of_few = decltype(tn::compile(rows).plan(tn::tensor<double, tn::shape<2, 3>>(), indices()));
  STATIC_REQUIRE(of_few::bytes() == 8 * index + 2 * row + 8 * row);  // at most the table
  using line = tn::tensor<double, tn::shape<3>>;
  using position = std::int64_t;
  using in_place = decltype(tn::compile([](auto x, auto y, auto i) { return put(sin(x), y, i); }).plan(table(), line(), position()));
  STATIC_REQUIRE(in_place::kernels() == 2);
  STATIC_REQUIRE(in_place::bytes() == 2 * whole + (2 * row + number));
  using copied = decltype(tn::compile([](auto x, auto y, auto i) { return put(x, y, i); }).plan(table(), line(), position()));
  STATIC_REQUIRE(copied::bytes() == 2 * whole + row + number);
  // A loop: the carry has one place, so each iteration writes its block, unless it reads the old carry afterwards.
  using trip_count = decltype(tn::compile([](auto x, auto y) { return tn::fori_loop(5, [=](auto i, auto c) { return put(c, y, i); }, x); }).plan(table(), line()));
  STATIC_REQUIRE(trip_count::bytes() == 5 * (2 * number + 2 * row + number));  // the check of the position is a step
  using reading = decltype(tn::compile([](auto x, auto y) {
                             return tn::fori_loop(5, [=](auto i, auto c) { return put(c, y, i) + 0.0 * c[0]; }, x);
                           }).plan(table(), line()));
  STATIC_REQUIRE(reading::bytes() > 5 * 2 * whole);
}

/// An inner loop, by a count and by a condition, that updates the array that the outer one carries. ReadsAfter: the old array is read beside the new one.
template <bool ReadsAfter>
constexpr auto in_inner_loops = [](auto cache, auto xs) {
  const auto iteration = [](auto c, auto x) {
    const auto counted = tn::fori_loop(2, [=](auto i, auto d) { return put(d, sin(x) + d[i], i + 3); }, c);
    const auto goes_on = [](auto s) { return std::get<1>(s) < 3; };
    const auto step = [=](auto s) { return std::tuple{put(std::get<0>(s), 2.0 * x, std::get<1>(s) + 20), std::get<1>(s) + 1}; };
    const auto last = std::get<0>(tn::while_loop(goes_on, step, std::tuple{counted, std::int64_t{0}}));
    if constexpr (ReadsAfter) return std::tuple{last, sum(last * c)};
    else return std::tuple{last, sum(x)};
  };
  return tn::scan(iteration, cache, xs);
};

TEST_CASE("an inner loop updates the array that the outer loop carries, in place") {
  const table cache = counted();
  const tn::tensor<double, tn::shape<5, 3>> xs = {{1, 2, 3}, {-1, 2, -3}, {-1, 2, 3}, {-1, -2, -3}, {2, 1, 0}};
  agrees_with_reference("in place", in_inner_loops<false>, cache, xs);
  agrees_with_reference("read afterwards", in_inner_loops<true>, cache, xs);
  using plan = decltype(tn::compile(in_inner_loops<false>).plan(cache, xs));
  static_assert(plan::workspace_bytes() < 2 * 960);
}

TEST_CASE("a branch or a loop outside loops computes its result in the memory of the argument") {
  static constexpr auto branch = tn::compile([](auto flag, auto x, auto y) { return tn::cond(flag, [=] { return x * y; }, [=] { return x; }); });
  static constexpr auto loop = tn::compile([](auto n, auto x, auto y) { return tn::fori_loop(n, [=](auto, auto c) { return 0.5 * c + y; }, x); });
  const table y = counted(1), expected = counted();
  using of_branch = tn::program<tn::detail::source_of<decltype(branch.function), bool, table, table>>;
  using of_loop = tn::program<tn::detail::source_of<decltype(loop.function), std::int64_t, table, table>>;
  static_assert(tn::program_detail::overwrites_of<of_branch, 3>.may(1, 0) && tn::program_detail::overwrites_of<of_branch, 3>.may(2, 0));
  static_assert(tn::program_detail::overwrites_of<of_loop, 3>.may(1, 0) && !tn::program_detail::overwrites_of<of_loop, 3>.may(2, 0));
  for (const bool flag : {false, true}) {
    table x = counted();
    branch.into(x)(flag, x, y);
    for (std::size_t i = 0; i < 120; ++i) CHECK(tn::as_span(x)[i] == tn::as_span(expected)[i] * (flag ? tn::as_span(y)[i] : 1));
    table other = y.clone();
    branch.into(other)(flag, expected, other);
    CHECK(first_difference(other.data(), x.data(), 120));
    branch.into(x)(flag, x, x);
    CHECK(x(0, 0) == (flag ? other(0, 0) * other(0, 0) : other(0, 0)));
  }
  for (const std::int64_t n : {0, 1, 2, 5}) {
    table x = counted();
    loop.into(x)(n, x, y);
    const table apart = loop(n, expected, y);
    for (std::size_t i = 0; i < 120; ++i) CHECK(tn::as_span(x)[i] == tn::as_span(apart)[i]);
    table both = y.clone();
    loop.into(both)(n, both, both);
    const table both_apart = loop(n, y, y);
    for (std::size_t i = 0; i < 120; ++i) CHECK(tn::as_span(both)[i] == tn::as_span(both_apart)[i]);
  }
}

TEST_CASE("an iteration with a position outside throws, and nothing was written") {
  constexpr auto f = tn::compile([](auto cache, auto xs, auto first) { return std::get<0>(ring<false>(cache, xs, first)); });
  const table cache = counted();
  const tn::tensor<double, tn::shape<5, 3>> xs = tn::ones<double>(tn::shape<5, 3>());
  const table before = counted(1);
  table target = counted(1);
  CHECK_THROWS_AS(f.into(target)(cache, xs, std::int64_t{37}), tn::index_error);
  CHECK(first_difference(target.data(), before.data(), 120));
  CHECK_THROWS_AS(f.into(target)(target, xs, std::int64_t{37}), tn::index_error);
  CHECK(first_difference(target.data(), before.data(), 120));
  f.into(target)(target, xs, std::int64_t{35});
  CHECK(target(39, 0) == std::sin(before(39, 0)) + 1);
  CHECK(target(34, 0) == before(34, 0));
}
