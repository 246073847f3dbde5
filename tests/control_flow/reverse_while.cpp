// SPDX-License-Identifier: BSL-1.0
// Reverse mode through a while_loop without a bound: against loops by hand, tangents, differences, and the reference backend.
#include "reference.hpp"

namespace tn = tenure;
using dynamic_matrix = tn::tensor<double, tn::shape<tn::dyn, 3>>;

namespace {

// The logistic map x -> a x (1 - x), n times: every iteration counts, and the derivative is a product of n factors.
constexpr auto logistic = [](auto n, auto a, auto x) { return tn::fori_loop(n, [=](auto, auto c) { return a * c * (1.0 - c); }, x); };

struct by_hand {
  double value, da, dx;
};
by_hand logistic_by_hand(std::int64_t n, double a, double x) {
  std::vector<double> states;
  for (std::int64_t i = 0; i < n; ++i) states.push_back(x), x = a * x * (1 - x);
  by_hand r{x, 0, 1};
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const double c = states[static_cast<std::size_t>(i)];
    r.da += r.dx * c * (1 - c);
    r.dx *= a * (1 - 2 * c);
  }
  return r;
}

// Until the sum is above a limit: a matrix with run-time rows, a number and the iterations.
constexpr auto growth = [](auto limit, auto w, auto x) {
  const auto goes_on = [=](auto s) { return tn::sum(std::get<0>(s)) < limit && std::get<2>(s) < 1000; };
  const auto iteration = [=](auto s) {
    const auto [m, q, i] = s;
    return std::tuple{m + 0.1 * tn::matmul(m, w) + 0.01 * q, tn::sin(q) + 0.5, i + 1};
  };
  const auto [m, q, i] = tn::while_loop(goes_on, iteration, std::tuple{x * x, 0.3 * tn::sum(w), 0});
  return std::tuple{m, q * tn::sum(m)};
};
constexpr auto growth_loss = [](auto limit, auto w, auto x) {
  const auto [m, q] = growth(limit, w, x);
  return tn::sum(m * m) + q;
};

tn::tensor<double, tn::shape<3, 3>> weights() { return {{0.5, 0.2, 0.1}, {0.3, 0.4, 0.2}, {0.1, 0.6, 0.3}}; }
dynamic_matrix rows(std::int64_t n) {
  dynamic_matrix x = tn::zeros<double>(tn::shape<tn::dyn, 3>{}, n);
  for (std::int64_t i = 0; i < 3 * n; ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = 0.2 + 0.05 * static_cast<double>((i * 5) % 7);
  return x;
}

}  // namespace

TEST_CASE("the gradient of a while_loop is that of the iterations that were taken, whatever their number") {
  constexpr auto gradient = tn::value_and_grad<1, 2>(logistic);
  for (const std::int64_t n : {-1, 0, 1, 2, 3, 10, 2048, 2049, 2050, 2051, 100000}) {
    INFO("iterations " << n);
    const by_hand expected = logistic_by_hand(n, 3.4, 0.3);
    const auto [y, da, dx] = gradient(n, 3.4, 0.3);
    CHECK(y.item() == Approx(expected.value).epsilon(1e-13));
    CHECK(da.item() == Approx(expected.da).epsilon(1e-10));
    CHECK(dx.item() == Approx(expected.dx).epsilon(1e-10).margin(1e-300));
  }
  // The memory is a constant of the program: the snapshots, and the iterations at which they were taken.
  using plan = decltype(gradient.plan(std::int64_t{0}, 0.0, 0.0));
  CHECK(plan::workspace_bytes() < 2048 * 24 + 2048);
  CHECK(plan::kept_bytes() == 8);  // the number of iterations
  const std::string text = tn::to_text(plan{});
  CHECK_THAT(text, Catch::Matchers::Contains("while_loop, counted") && Catch::Matchers::Contains(": reverse_while\n  iteration:"));
  CHECK_THAT(text, Catch::Matchers::Contains("\n  pull:"));
}

TEST_CASE("large carries keep 32 snapshots, and other iterations are computed again") {
  using vector = tn::tensor<float, tn::shape<tn::dyn>>;
  constexpr auto decay = tn::grad<1>([](auto n, auto x) { return tn::sum(tn::fori_loop(n, [](auto, auto c) { return c - 0.001f * c * c; }, x)); });
  const vector x = tn::ones<float>(tn::shape<tn::dyn>{}, 3000);
  for (const std::int64_t n : {32, 33, 34, 594, 595, 596, 3000}) {
    double c = 1, g = 1;
    for (std::int64_t i = 0; i < n; ++i) g *= 1 - 0.002 * c, c -= 0.001 * c * c;
    const auto found = decay(n, x);
    CHECK(found(0) == Approx(g).epsilon(1e-3));
    CHECK(found(2999) == found(0));
  }
}

TEST_CASE("a carry of several tensors with run-time extents: the reference backend, tangents and differences") {
  const auto w = weights();
  for (const std::int64_t n : {1, 4}) {
    const auto x = rows(n);
    for (const double limit : {0.0, 3.0, 60.0, 1e4}) {
      INFO(n << " rows, limit " << limit);
      constexpr auto gradient = tn::value_and_grad<1, 2>(growth_loss);
      judged::agree(gradient(limit, w, x), judged::by_reference(gradient.function, limit, w, x), 1e-10);
    }
  }
  // Law: <J v, u> = <v, J' u>.
  const auto x = rows(2), dx = tn::tensor(tn::eval(0.5 - x));
  const auto dw = tn::tensor(tn::eval(w * w - 0.1));
  const auto [y, gw, gx] = tn::value_and_grad<1, 2>(growth_loss)(60.0, w, x);
  const double along = (sum(gw * dw) + sum(gx * dx)).item();
  const tn::tensor<double, tn::shape<>> limit = 60.0;
  CHECK(judged::interpreted(tn::jvp<1, 2>(growth_loss).function, limit, w, x, dw, dx)[1][0] == Approx(along).epsilon(1e-11));
  const auto at = [&](double h) { return judged::interpreted(growth_loss, limit, tn::tensor(tn::eval(w + h * dw)), tn::tensor(tn::eval(x + h * dx)))[0][0]; };
  CHECK(along == Approx((at(1e-6) - at(-1e-6)) / 2e-6).epsilon(1e-6));
}

TEST_CASE("a pull that reads no state: no state is computed again, and there are no snapshots") {
  using vector = tn::tensor<double, tn::shape<1000>>;
  constexpr auto doubled = [](auto x) { return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return 2.0 * c; }, x)); };
  constexpr auto gradient = tn::grad(doubled);
  const vector x = tn::tensor(tn::eval(tn::zeros<double>(tn::shape<1000>{}) + 0.001));
  const auto g = gradient(x);
  CHECK(g(0) == 16);
  CHECK(g(999) == 16);
  STATIC_REQUIRE(decltype(gradient.plan(x))::workspace_bytes() <= 4 * 8000);
  // For a batch the number of the iteration is a state, and the only one.
  constexpr auto each = tn::vmap(gradient);
  tn::tensor<double, tn::shape<2, 1000>> xs = tn::zeros<double>(tn::shape<2, 1000>{});
  for (std::size_t i = 0; i < 2000; ++i) tn::as_span(xs)[i] = i < 1000 ? 0.001 : 0.02;
  const auto gs = each(xs);
  CHECK(gs(0, 999) == 16);
  CHECK(gs(1, 0) == 1);
  STATIC_REQUIRE(decltype(each.plan(xs))::workspace_bytes() <= 8 * 16000);
  // Tangents of it.
  const tn::tensor<double, tn::shape<3>> y = {0.25, 0.5, 0.25}, along = {1, 2, 3};
  const auto second = judged::interpreted(
      [](auto x, auto v) {
        const auto below = [](auto c) { return tn::sum(c) < 9.0; };
        const auto squared = [=](auto x) { return tn::sum(tn::square(tn::while_loop(below, [](auto c) { return 2.0 * c; }, x))); };
        return tn::hvp(squared)(x, v);
      },
      y, along)[0];
  for (std::int64_t i = 0; i < 3; ++i) CHECK(second[i] == 2 * 256.0 * static_cast<double>(i + 1));
}

TEST_CASE("a pull that reads no state after its passes keeps no snapshots") {
  // The custom derivative custom_jvp reads the number of the iteration, the value does not. The pass `algebra` removes the custom derivative.
  constexpr auto gradient = tn::grad([](auto x) {
    const auto two = tn::custom_jvp([](auto n) { return tn::zeros_like(n) + 2.0; },
                                    [](auto n, auto t) { return std::tuple{tn::zeros_like(n) + 2.0, 0.0 * t}; });
    const auto iteration = [=](auto s) { return std::tuple{tn::stop_gradient(two(std::get<1>(s))) * std::get<0>(s), std::get<1>(s) + 1.0}; };
    return tn::sum(std::get<0>(tn::while_loop([](auto s) { return tn::sum(std::get<1>(s)) < 4000.0; }, iteration, std::tuple{x, tn::zeros_like(x)})));
  });
  const tn::tensor<double, tn::shape<1000>> x = tn::ones<double>(tn::shape<1000>{});
  CHECK(gradient(x)(0) == 16);
  STATIC_REQUIRE(decltype(gradient.plan(x))::workspace_bytes() <= 5 * 8000);
}

TEST_CASE("a while_loop joins the eager history") {
  auto x = tn::variable<double, tn::shape<2>>{1.5, 0.5};
  constexpr auto squares = tn::compile([](auto c) { return tn::while_loop([](auto c) { return tn::sum(c) < 20.0; }, [](auto c) { return c * c; }, c); });
  const tn::tensor y = sum(squares(x));  // 1.5^8 + 0.5^8
  y.backward();
  CHECK(x.grad()(0) == Approx(8 * std::pow(1.5, 7)));
  CHECK(x.grad()(1) == Approx(8 * std::pow(0.5, 7)));
}
