// SPDX-License-Identifier: BSL-1.0
// Loops and branches where mistakes are likely: run-time extents, no elements, carries that pass through, results that are the same or
// that nobody reads, integer and bool carries, targets that are arguments, several threads, NaN.
#include "reference.hpp"

#include <cmath>
#include <limits>

#include <tenure/threads.hpp>

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;
using open_vector = tn::tensor<double, tn::shape<tn::dyn>>;
using batch = tn::tensor<double, tn::shape<tn::dim("batch"), tn::dim("features")>>;
using features = tn::tensor<double, tn::shape<tn::dim("features")>>;

namespace {

// xs, the carry and the capture have run-time extents; a cond stands in the scan.
constexpr auto recurrence = [](auto w, auto h, auto xs) {
  auto [last, ys] = tn::scan(
      [=](auto c, auto x) {
        auto n = tn::cond(tn::sum(x) > 0.0, [=] { return tn::tanh(c * w + x); }, [=] { return c * x; });
        return std::tuple{n, tn::sum(n * w)};
      },
      h, xs);
  return tn::sum(last * last) + tn::sum(ys);
};
constexpr auto recurrence_of_numbers = [](auto w, auto xs) {
  return std::get<0>(tn::scan([=](auto c, auto x) { return std::tuple{tn::sin(c * w + x), tn::nothing}; }, w * w, xs));
};

constexpr auto many_carries = [](auto x, auto xs) {
  auto [state, ys] = tn::scan(
      [](auto s, auto e) {
        auto [a, still, count, is_even, unread] = s;
        auto n = tn::sin(a + e * still);
        return std::tuple{std::tuple{n, still, count + 2, !is_even, unread * 2.0}, std::tuple{n, n, e, count, is_even}};
      },
      std::tuple{x, x, std::int64_t{1}, true, x}, xs);
  auto [a, still, count, is_even, unread] = state;
  auto [y, same, slice, counts, evens] = ys;
  return std::tuple{a, a, still, count, is_even, y, same, slice, counts, evens};
};

batch rows(std::int64_t n, std::int64_t m) {
  batch x = tn::zeros<double>(tn::shape<tn::dim("batch"), tn::dim("features")>{}, n, m);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n * m); ++i) tn::as_span(x)[i] = 0.3 * static_cast<double>((i * 5) % 7) - 0.8;
  return x;
}

}  // namespace

TEST_CASE("run-time extents in carries, xs and captures, also none") {
  constexpr auto f = tn::value_and_grad<0, 1, 2>(recurrence);
  for (const std::int64_t n : {0, 1, 2, 5})
    for (const std::int64_t m : {0, 1, 3, 17}) {
      INFO(n << " iterations of " << m << " elements");
      features w = tn::full<double>(tn::shape<tn::dim("features")>{}, 0.7, m), h = tn::full<double>(tn::shape<tn::dim("features")>{}, -0.4, m);
      const batch xs = rows(n, m);
      const auto found = f(w, h, xs);
      judged::agree(found, judged::interpreted(f.function, w, h, xs));
      if (m == 0) continue;
      const double step = 1e-6;
      const auto value = [&](double by) {
        features v = w.clone();
        tn::as_span(v)[0] += by;
        return tn::compile(recurrence)(v, h, xs).item();
      };
      CHECK(std::get<1>(found).data()[0] == Approx((value(step) - value(-step)) / (2 * step)).epsilon(1e-6).margin(1e-7));
    }
  features w = tn::ones<double>(tn::shape<tn::dim("features")>{}, 3), h = tn::ones<double>(tn::shape<tn::dim("features")>{}, 4);
  CHECK_THROWS_AS(f(w, h, rows(2, 3)), tn::shape_error);
  CHECK_THROWS_AS(f(w, w, rows(2, 4)), tn::shape_error);
}

TEST_CASE("a body without run-time extents is static, also if the number of iterations is known only at run time") {
  constexpr auto over = [](auto c, auto xs) { return tn::scan([](auto c, auto x) { return std::tuple{c * 0.5 + x, c}; }, c, xs); };
  using numbers = tn::program<tn::detail::source_of<decltype(over), double, open_vector>>;
  using rows = tn::program<tn::detail::source_of<decltype(over), open_vector, tn::tensor<double, tn::shape<4, tn::dyn>>>>;
  static_assert(!numbers::is_static && tn::program_detail::body_program<numbers, 0>::is_static);
  static_assert(!rows::is_static && !tn::program_detail::body_program<rows, 0>::is_static);
  constexpr auto nested = [](auto c, auto xs) {
    return tn::fori_loop(2, [=](auto, auto k) { return std::get<0>(tn::scan([](auto c, auto x) { return std::tuple{c * 0.5 + x, tn::nothing}; }, k, xs)); }, c);
  };
  using outer = tn::program<tn::detail::source_of<decltype(nested), double, open_vector>>;
  static_assert(tn::program_detail::body_program<outer, 0>::is_static && !tn::program_detail::body_program<outer, 1>::is_static);
  const open_vector xs = tn::ones<double>(tn::shape<tn::dyn>{}, 3);
  CHECK(tn::compile(nested)(8.0, xs).item() == 8.0 / 64 + 1.75 / 8 + 1.75);
}

TEST_CASE("a carry whose run-time extent the body changes is refused before the first iteration") {
  constexpr auto f = tn::compile([](auto x, auto y) { return tn::fori_loop(2, [=](auto, auto c) { return c * 0.0 + y; }, x); });
  CHECK_THROWS_AS(f(open_vector(tn::ones<double>(tn::shape<tn::dyn>{}, 3)), open_vector(tn::ones<double>(tn::shape<tn::dyn>{}, 4))), tn::shape_error);
  constexpr auto g = tn::compile([](auto flag, auto x, auto y) { return tn::cond(flag, [=] { return x * 2.0; }, [=] { return y * 3.0; }); });
  CHECK_THROWS_AS(g(true, open_vector(tn::ones<double>(tn::shape<tn::dyn>{}, 3)), open_vector(tn::ones<double>(tn::shape<tn::dyn>{}, 4))), tn::shape_error);
}

TEST_CASE("the number of iterations is an extent that later operations find equal to others") {
  constexpr auto f = [](auto a, auto xs, auto b) {
    auto ys = std::get<1>(tn::scan([](auto c, auto x) { return std::tuple{c * x, c + x}; }, tn::sum(a), xs));
    return tn::sum(ys * a) + tn::sum(xs * b);
  };
  const auto of = [](double x) { return open_vector(tn::full<double>(tn::shape<tn::dyn>{}, x, 3)); };
  judged::interpreted(tn::value_and_grad<0, 1>(f).function, of(0.5), of(2), vector{1, 2, 3});
  judged::interpreted(tn::value_and_grad<0, 1>(f).function, of(0.5), of(2), of(3));
}

// The iterations of a fori_loop are those of an axis. With tensors the extent is a number.
constexpr auto by_extent = [](auto w, auto xs) {
  const auto n = tn::extent<-1>(xs);
  return tn::fori_loop(n, [=](auto i, auto c) { return tn::sin(c * w) + xs.at(i) * tn::cast<double>(i); }, w) + tn::cast<double>(n + tn::extent<0>(tn::stack(w, w)));
};

TEST_CASE("extent is a number of iterations, and a number to compute with") {
  constexpr auto f = tn::value_and_grad<0, 1>(by_extent);
  for (const std::int64_t n : {0, 1, 4}) {
    const open_vector xs = tn::full<double>(tn::shape<tn::dyn>{}, 0.3, n);
    const auto found = f(0.7, xs);
    judged::agree(found, judged::interpreted(f.function, number(0.7), xs));
    double c = 0.7;
    for (std::int64_t i = 0; i < n; ++i) c = std::sin(c * 0.7) + 0.3 * static_cast<double>(i);
    CHECK(std::get<0>(found).item() == Approx(c + static_cast<double>(n) + 2));
    CHECK(tn::extent<0>(xs) == n);
  }
  static_assert(std::is_same_v<decltype(tn::extent<0>(vector())), std::int64_t>);
  constexpr auto twice = tn::grad([](auto w, auto xs) { return tn::square(tn::grad<0>(by_extent)(w, xs)); });
  const auto slope = [&](double w) { return tn::square(tn::grad<0>(by_extent)(w, vector{0.3, 0.3, 0.3})).item(); };
  CHECK(twice(0.7, open_vector(tn::full<double>(tn::shape<tn::dyn>{}, 0.3, 3))).item() == Approx((slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5).epsilon(1e-6));
}

constexpr auto looked_up = [](auto x) {
  const auto iteration = [=](auto c, auto) { return std::tuple{0.5 * c + tn::gather<0>(x, tn::cast<std::int64_t>(tn::minimum(c * c, 2.0))), tn::nothing}; };
  return std::get<0>(tn::scan(iteration, tn::sum(x), x));
};

TEST_CASE("in a batch, a branch that some samples take may have a loop that is the same for all, with lookups") {
  constexpr auto f = [](auto x, auto xs) {
    return tn::vmap([=](auto y) { return tn::cond(y > 0.0, [=](auto z) { return z * looked_up(x); }, [](auto z) { return 2.0 * z; }, y); })(xs);
  };
  constexpr auto by_where = [](auto x, auto xs) { return tn::where(xs > 0.0, xs * looked_up(x), 2.0 * xs); };
  const vector x{0.3, 0.7, -0.2}, xs{1, -2, 0.5};
  const auto found = judged::interpreted(f, x, xs), expected = judged::interpreted(by_where, x, xs);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(found[0][i] == Approx(expected[0][i]));
}

constexpr auto grown = [](auto x) { return tn::while_loop([](auto c) { return c < 9.0; }, [](auto c) { return c * c + 1.0; }, x); };

TEST_CASE("a batch of no samples has gradients of a while_loop, in which no iteration is taken") {
  constexpr auto slopes = [](auto xs) { return tn::vmap(tn::grad(grown))(xs); };
  CHECK(judged::interpreted(slopes, open_vector(tn::zeros<double>(tn::shape<tn::dyn>{}, 0)))[0].size() == 0);
  CHECK(judged::interpreted(slopes, open_vector(tn::full<double>(tn::shape<tn::dyn>{}, 2, 1)))[0][0] == Approx(2 * 5 * 2 * 2));
}

TEST_CASE("a carry that passes through, results that are the same, a result that nobody reads, integer and bool carries") {
  const vector x = {0.3, 0.7, -0.2}, xs = {0.5, -1, 2};
  judged::agrees_with_reference("values", many_carries, x, xs);
  const auto found = tn::compile(many_carries)(x, xs);
  CHECK(std::get<2>(found).data()[1] == 0.7);
  CHECK(std::get<3>(found).item() == 7);
  CHECK_FALSE(std::get<4>(found).item());
  judged::agrees_with_reference("gradients", tn::grad<0, 1>([](auto x, auto xs) {
    auto all = many_carries(x, xs);
    return tn::sum(std::get<0>(all) * std::get<1>(all) * std::get<2>(all)) + tn::sum(std::get<5>(all) * std::get<6>(all)) + tn::sum(std::get<7>(all) * std::get<7>(all));
  }).function, x, xs);
  judged::agrees_with_reference("branches that return a capture, and the same twice", [](auto flag, auto x, auto y) {
    return tn::cond(flag, [=] { return std::tuple{x, x, x * y}; }, [=] { return std::tuple{y, x, y}; });
  }, false, x, xs);
}

TEST_CASE("targets that are arguments: the carry, the scanned values and a capture are overwritten last") {
  constexpr auto f = tn::compile([](auto w, auto c, auto xs) {
    auto [last, ys] = tn::scan([=](auto c, auto x) { return std::tuple{c * w + x, tn::flip<0>(c) * x}; }, c, xs);
    return std::tuple{last, ys};
  });
  const auto start = [] { return vector{1, 2, 3}; };
  const tn::tensor<double, tn::shape<3, 3>> rows = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto [last, ys] = f(vector{0.5, 2, -1}, start(), rows);
  const auto same = [](const auto& a, const auto& b) {
    for (std::int64_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == b.data()[i]);
  };
  vector c = start();
  tn::tensor<double, tn::shape<3, 3>> xs = rows.clone();
  f.into(c, xs)(vector{0.5, 2, -1}, c, xs);
  same(c, last);
  same(xs, ys);
  vector w = {0.5, 2, -1};
  xs.copy_(rows);
  f.into(w, xs)(w, start(), xs);
  same(w, last);
  same(xs, ys);
  // The flag's branch reads what the call writes.
  constexpr auto g = tn::compile([](auto a, auto b) { return tn::cond(tn::sum(a) > 0.0, [=] { return std::tuple{tn::flip<0>(b), tn::flip<0>(a)}; }, [=] { return std::tuple{a, b}; }); });
  vector a = start(), b = {7, 8, 9};
  g.into(a, b)(a, b);
  same(a, vector{9, 8, 7});
  same(b, vector{3, 2, 1});
}

TEST_CASE("a thread_pool computes the same bits") {
  const tn::thread_pool pool(3, 0);
  constexpr auto f = [](auto w, auto xs) {
    auto [last, ys] = tn::scan([=](auto c, auto x) { return std::tuple{tn::tanh(tn::matmul(c, w) + x), tn::sum(c)}; }, xs[0] * 0.5, xs);
    return tn::sum(last) + tn::sum(ys);
  };
  tn::tensor<double, tn::shape<64, 64>> w;
  tn::tensor<double, tn::shape<4, 96, 64>> xs;
  for (std::size_t i = 0; i < tn::as_span(w).size(); ++i) tn::as_span(w)[i] = std::sin(static_cast<double>(i)) * 0.1;
  for (std::size_t i = 0; i < tn::as_span(xs).size(); ++i) tn::as_span(xs)[i] = std::cos(static_cast<double>(i));
  const auto alone = tn::value_and_grad<0>(f)(w, xs);
  const auto together = tn::value_and_grad<0>(f, pool)(w, xs);
  CHECK(std::get<0>(alone).item() == std::get<0>(together).item());
  for (std::int64_t i = 0; i < 64 * 64; ++i) REQUIRE(std::get<1>(alone).data()[i] == std::get<1>(together).data()[i]);
}

TEST_CASE("NaN: it passes through carries, ends a while_loop, and the branch that does not run adds none to a gradient") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(tn::compile(recurrence_of_numbers)(0.5, vector{1, nan, 2}).item()));
  CHECK(std::isnan(tn::compile([](auto x) { return tn::while_loop([](auto c) { return c < 9.0; }, [](auto c) { return c * 2.0; }, x); })(nan).item()));
  constexpr auto root = tn::value_and_grad([](auto x) { return tn::cond(x > 0.0, [=] { return tn::sqrt(x); }, [=] { return x * 0.0; }); });
  const auto [y, g] = root(-1.0);
  CHECK(y.item() == 0);
  CHECK(g.item() == 0);
  CHECK(std::isnan(std::get<1>(root(nan)).item()) == false);  // nan > 0 is false
  const auto [z, h] = tn::value_and_grad<1>(recurrence_of_numbers)(0.5, vector{1, nan, 2});
  CHECK(std::isnan(z.item()));
  CHECK(std::isnan(h.data()[0]));
}
