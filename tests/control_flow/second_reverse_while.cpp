// SPDX-License-Identifier: BSL-1.0
// Reverse mode of any order through a while_loop without a bound: against derivatives by hand, forward mode, and the reference backend.
#include "reference.hpp"

namespace tn = tenure;

namespace {

constexpr auto logistic = [](auto n, auto x) { return tn::fori_loop(n, [](auto, auto c) { return 3.1 * c * (1.0 - c); }, x); };
constexpr auto slope = [](auto n, auto x) { return tn::grad<1>(logistic)(n, x); };
constexpr auto bend = [](auto n, auto x) { return tn::grad<1>(slope)(n, x); };

/// The value after n iterations and its first three derivatives by the first value.
struct jet {
  double at[4];
};
jet logistic_by_hand(std::int64_t n, double x) {
  jet j{{x, 1, 0, 0}};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [c, d, dd, ddd] = j.at;
    const double slope = 3.1 * (1 - 2 * c), bend = -6.2;
    j = {{3.1 * c * (1 - c), slope * d, slope * dd + bend * d * d, slope * ddd + 3 * bend * d * dd}};
  }
  return j;
}

// Until the norm is above a limit: two carries that meet, a capture that the condition reads too, and the iterations.
constexpr auto growth = [](auto limit, auto w, auto x) {
  const auto goes_on = [=](auto s) { return tn::sum(tn::square(std::get<0>(s))) + tn::sum(w) < limit && std::get<2>(s) < 500; };
  const auto iteration = [=](auto s) {
    const auto [m, q, i] = s;
    return std::tuple{m + 0.1 * tn::tanh(tn::matmul(m, w)) + 0.01 * q * m, tn::sin(q) + 0.2 * tn::sum(m * m), i + 1};
  };
  const auto [m, q, i] = tn::while_loop(goes_on, iteration, std::tuple{x * x, 0.3 * tn::sum(w), 0});
  return tn::sum(m * m) + q * tn::sum(m);
};

tn::tensor<double, tn::shape<3, 3>> weights() { return {{0.5, 0.2, 0.1}, {0.3, 0.4, 0.2}, {0.1, 0.6, 0.3}}; }
tn::tensor<double, tn::shape<2, 3>> rows() { return {{0.2, 0.45, 0.3}, {0.25, 0.35, 0.4}}; }

/// The sum of the products of the gradient with fixed numbers: its gradient is a Hessian times these.
template <auto F>
constexpr auto along_gradient = [](auto limit, auto w, auto x, auto v, auto u) {
  const auto [gw, gx] = tn::grad<1, 2>(F)(limit, w, x);
  return tn::sum(gw * v) + tn::sum(gx * u);
};

}  // namespace

TEST_CASE("second and third derivatives by reverse mode, whatever the number of iterations") {
  constexpr auto second = tn::value_and_grad<1>(slope);
  constexpr auto third = tn::value_and_grad<1>(bend);
  for (const std::int64_t n : {-1, 0, 1, 2, 3, 10, 100, 2049, 2051, 5000}) {
    INFO("iterations " << n);
    const jet expected = logistic_by_hand(n, 0.3);
    const auto [d, dd] = second(n, 0.3);
    const auto [same, ddd] = third(n, 0.3);
    CHECK(d.item() == Approx(expected.at[1]).epsilon(1e-9).margin(1e-300));
    CHECK(dd.item() == Approx(expected.at[2]).epsilon(1e-9).margin(1e-300));
    CHECK(same.item() == Approx(expected.at[2]).epsilon(1e-9).margin(1e-300));
    CHECK(ddd.item() == Approx(expected.at[3]).epsilon(1e-8).margin(1e-300));
  }
  // The memory is a constant of the program.
  STATIC_REQUIRE(decltype(second.plan(std::int64_t{0}, 0.0))::workspace_bytes() < 600 * 1024);
}

TEST_CASE("reverse over reverse mode is forward over reverse mode, and what the reference backend computes") {
  const auto w = weights();
  const auto x = rows();
  const tn::tensor v = tn::eval(w * w - 0.1);
  const tn::tensor u = tn::eval(0.5 - x);
  for (const double limit : {0.0, 3.0, 30.0, 300.0}) {
    INFO("limit " << limit);
    constexpr auto product = tn::value_and_grad<1, 2>(along_gradient<growth>);
    const auto results = product(limit, w, x, v, u);
    const auto& [y, hw, hx] = results;
    judged::agree(results, judged::by_reference(product.function, limit, w, x, v, u), 1e-10);
    const auto forward = tn::jvp<1, 2>(tn::grad<1, 2>(growth))(limit, w, x, v, u);
    const auto& [fw, fx] = std::get<1>(forward);
    CHECK(max(abs(hw - fw)).item() < 1e-9 * (1 + max(abs(fw)).item()));
    CHECK(max(abs(hx - fx)).item() < 1e-9 * (1 + max(abs(fx)).item()));
  }
}

TEST_CASE("jacrev of grad is the Hessian, and each sample of a batch has its own number of iterations") {
  constexpr auto f = [](auto a) {
    return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [=](auto c) { return c * c + tn::sin(a) * 0.1; }, a));
  };
  constexpr auto by_reverse = tn::jacrev(tn::grad(f));
  constexpr auto by_forward = tn::hessian(f);
  const tn::tensor<double, tn::shape<3, 2>> xs{{1.5, 1.2}, {9, 1}, {1.1, 1.05}};
  const tn::tensor all = tn::vmap(by_reverse)(xs);
  for (std::int64_t i = 0; i < 3; ++i) {
    const tn::tensor<double, tn::shape<2>> x{xs(i, 0), xs(i, 1)};
    const tn::tensor h = by_forward(x), r = by_reverse(x);
    for (std::int64_t k = 0; k < 4; ++k) {
      CHECK(r(k / 2, k % 2) == Approx(h(k / 2, k % 2)).epsilon(1e-11));
      CHECK(all(i, k / 2, k % 2) == Approx(h(k / 2, k % 2)).epsilon(1e-11));
    }
  }
}

TEST_CASE("a carry that becomes what the loop captures") {
  constexpr auto f = [](auto a) {
    const auto w = 1.0 + tn::sin(a);
    const auto goes_on = [](auto s) { return tn::sum(std::get<0>(s)) < 20.0; };
    const auto all = tn::while_loop(goes_on, [=](auto s) { return std::tuple{std::get<0>(s) * std::get<1>(s), w}; }, std::tuple{a, a * a});
    return tn::sum(std::get<0>(all) * std::get<1>(all));
  };
  const tn::tensor<double, tn::shape<2>> x{1.5, 1.2};
  const tn::tensor found = tn::jacrev(tn::grad(f))(x), expected = tn::hessian(f)(x);
  for (std::int64_t k = 0; k < 4; ++k) CHECK(found(k / 2, k % 2) == Approx(expected(k / 2, k % 2)).epsilon(1e-11));
}

TEST_CASE("a gradient of a while_loop joins the eager history") {
  constexpr auto slope = tn::compile([](auto x) {
    return tn::grad([](auto a) { return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 20.0; }, [](auto c) { return c * c; }, a)); })(x);
  });
  auto x = tn::variable<double, tn::shape<2>>{1.5, 0.5};  // c^8 after three iterations
  const tn::tensor y = sum(slope(x));
  y.backward();
  CHECK(x.grad()(0) == Approx(56 * std::pow(1.5, 6)));
  CHECK(x.grad()(1) == Approx(56 * std::pow(0.5, 6)));
}

TEST_CASE("a rule of a user's in the iteration: its backward may be used backward, if it is linear") {
  constexpr auto by_rule = [](auto x) {
    const auto cube = tn::custom_vjp([](auto a) { return a * a * a; }, [](auto a) { return std::tuple{a * a * a, a}; },
                                     [](auto a, auto g) { return std::tuple{3.0 * a * a * g}; });
    return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [=](auto c) { return 0.2 * cube(c) + c; }, x));
  };
  constexpr auto plain = [](auto x) {
    return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return 0.2 * c * c * c + c; }, x));
  };
  const tn::tensor<double, tn::shape<2>> x{0.9, 1.1};
  const tn::tensor found = tn::jacrev(tn::grad(by_rule))(x), expected = tn::hessian(plain)(x);
  for (std::int64_t k = 0; k < 4; ++k) CHECK(found(k / 2, k % 2) == Approx(expected(k / 2, k % 2)).epsilon(1e-12));
}

TEST_CASE("an iteration that takes a step along a gradient through another while_loop") {
  constexpr auto after = [](auto x) {
    const auto depth = [](auto w) { return tn::sum(tn::square(tn::while_loop([](auto c) { return tn::sum(c) < 4.0; }, [](auto c) { return 1.5 * tn::sin(c) + 0.4 * c; }, w))); };
    const auto iteration = [=](auto s) { return std::tuple{std::get<0>(s) - 0.01 * tn::grad(depth)(std::get<0>(s)) * x, std::get<1>(s) + 1}; };
    return tn::sum(tn::sin(std::get<0>(tn::while_loop([](auto s) { return std::get<1>(s) < 3; }, iteration, std::tuple{x * 0.5, 0}))));
  };
  const tn::tensor<double, tn::shape<2>> x{1.1, 0.9};
  const tn::tensor found = tn::jacrev(tn::grad(after))(x), expected = tn::jacfwd(tn::jacfwd(after))(x);
  for (std::int64_t k = 0; k < 4; ++k) CHECK(found(k / 2, k % 2) == Approx(expected(k / 2, k % 2)).epsilon(1e-10));
}
