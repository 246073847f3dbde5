// SPDX-License-Identifier: BSL-1.0
// linear_solve, cg, gmres: the solution and its derivatives of first and second order, against solve with the same matrix and against differences.
#include "../control_flow/reference.hpp"

namespace tn = tenure;
using judged::interpreted;

namespace {

using vector = tn::tensor<double, tn::shape<4>>;
using matrix = tn::tensor<double, tn::shape<4, 4>>;

const matrix definite = {{4, 1, 0, 0.5}, {1, 3, -1, 0}, {0, -1, 2, 0.3}, {0.5, 0, 0.3, 5}};
const matrix general = {{4, 1, 0.5, -1}, {-1, 3, -1, 0.2}, {0.2, -1, 2, 0.7}, {0.1, 0.4, -0.6, 3}};
const vector right = {1, 2, -3, 0.5};

constexpr tn::krylov_options tight{.tolerance = 1e-13};
constexpr auto times = [](auto x, auto a) { return tn::matmul(a, x); };
// The same loss of the same system, by four solvers.
constexpr auto loss = [](auto x) { return tn::sum(x * x * x + tn::sin(x)); };
constexpr auto by_solve = [](auto a, auto b) { return loss(tn::solve(a, b)); };
constexpr auto by_cg = [](auto a, auto b) { return loss(tn::cg([=](auto x) { return tn::matmul(a, x); }, b, tight)); };
constexpr auto by_gmres = [](auto a, auto b) { return loss(tn::linear_solve(times, [](auto map, auto rhs) { return tn::gmres<4>(map, rhs, tight); })(b, a)); };
// Jacobi's iterations, which are written for a as a function and for its diagonal 3.
constexpr auto jacobi = [](auto a, auto b) { return tn::fori_loop(200, [=](auto, auto x) { return x + (b - a(x)) / 5.0; }, tn::zeros_like(b)); };
constexpr auto by_jacobi = [](auto a, auto b) { return loss(tn::linear_solve(times, jacobi)(b, a)); };
constexpr auto by_symmetric_jacobi = [](auto a, auto b) { return loss(tn::linear_solve(times, jacobi, tn::symmetric)(b, a)); };

template <class F, class G, class... X>
void same(const char* what, double epsilon, F found, G wanted, const X&... x) {
  INFO(what);
  const auto got = interpreted(found, x...), expected = interpreted(wanted, x...);
  REQUIRE(got.size() == expected.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    REQUIRE(got[r].size() == expected[r].size());
    for (std::int64_t k = 0; k < got[r].size(); ++k) {
      INFO("result " << r << " element " << k);
      CHECK(got[r][k] == Approx(expected[r][k]).epsilon(epsilon).margin(epsilon));
    }
  }
}

// Second derivatives by the matrix. cg and a symmetric system have derivatives along symmetric matrices only, so the matrix is the mean of m and its
// transpose.
template <class F>
struct second_by_matrix {
  template <class M, class B>
  constexpr auto operator()(const M& m, const B& b) const {
    return tn::grad<0>([](auto n, auto c) {
      return tn::sum(tn::square(tn::grad<0>([](auto half, auto e) { return F{}((half + tn::transpose(half)) * 0.5, e); })(n, c)));
    })(m, b);
  }
};
template <class F>
void gradients(const char* what, F f, const matrix& a) {
  same(what, 1e-11, tn::value_and_grad<0, 1>(f).function, tn::value_and_grad<0, 1>(by_solve).function, a, right);
  same(what, 1e-9, second_by_matrix<F>{}, second_by_matrix<decltype(by_solve)>{}, a, right);
}
/// Tangents, the Hessian by b, and samples.
template <class F>
void others(const char* what, F f, const matrix& a) {
  same(what, 1e-11, tn::jvp<0, 1>(f).function, tn::jvp<0, 1>(by_solve).function, a, right, a, right);
  same(what, 1e-9, tn::hessian<1>(f).function, tn::hessian<1>(by_solve).function, a, right);
  const tn::tensor<double, tn::shape<3, 4>> rights = {{1, 2, -3, 0.5}, {0, 0, 0, 0}, {1e3, 1, 2, 3}};
  same(what, 1e-8, tn::vmap<tn::unmapped, 0>(tn::value_and_grad<0, 1>(f)).function, tn::vmap<tn::unmapped, 0>(tn::value_and_grad<0, 1>(by_solve)).function, a, rights);
}

}  // namespace

TEST_CASE("linear_solve: the derivatives do not depend on the solver") {
  gradients("cg", by_cg, definite);
  gradients("a function of the user, symmetric", by_symmetric_jacobi, definite);
  gradients("a function of the user", by_jacobi, general);
  gradients("gmres", by_gmres, general);
  others("cg", by_cg, definite);
  others("a function of the user", by_jacobi, general);
}

TEST_CASE("linear_solve: the derivative with respect to what apply captures") {
  static constexpr auto scaled = [](auto s, auto b) { return tn::linear_solve([=](auto x) { return x * s * s; }, [](auto map, auto rhs) { return tn::cg(map, rhs, tight); }, tn::symmetric)(b); };
  constexpr auto total = [](auto s, auto b) { return tn::sum(scaled(s, b)); };
  const auto [g] = std::tuple{tn::grad(total)(2.0, right)};
  CHECK(g.item() == Approx(-2 * 0.5 / 8));
  CHECK(tn::grad(tn::grad(total))(2.0, right).item() == Approx(6 * 0.5 / 16));
}

TEST_CASE("cg, gmres: right-hand sides of zeros, of one element, of two axes and of run-time extents; float32; NaN in one sample") {
  constexpr auto solved = tn::compile([](auto b) { return tn::cg([](auto x) { return 2.0 * x + tn::flip<0>(x); }, b, tight); });
  constexpr auto in_rounds = tn::compile([](auto b) { return tn::gmres<3>([](auto x) { return 2.0 * x + tn::flip<0>(x); }, b, tight); });
  const auto check = [](const auto& solver, const auto& b) {
    const auto x = solver(b);
    const auto image = tn::eval(2.0 * x + tn::flip<0>(x));
    for (std::size_t i = 0; i < tn::as_span(b).size(); ++i) CHECK(tn::as_span(image)[i] == Approx(tn::as_span(b)[i]).margin(1e-12));
  };
  check(solved, right);
  check(solved, tn::eval(0.0 * right));
  check(solved, tn::tensor<double, tn::shape<1>>{7});
  check(solved, tn::tensor<double, tn::shape<3, 2>>{{1, 2}, {3, 4}, {5, -6}});
  check(solved, tn::tensor<double, tn::shape<0, 2>>{});
  check(in_rounds, tn::tensor<double, tn::shape<2, 1>>{{3}, {-1}});
  check(in_rounds, tn::tensor<double, tn::shape<2, 1>>{{0}, {0}});
  constexpr auto shifted = [](auto b) { return tn::cg([](auto x) { return 2.0f * x + tn::sum(x); }, b); };
  tn::tensor<float, tn::shape<tn::dyn>> b = tn::zeros<float>(tn::shape<tn::dyn>{}, 37);
  for (std::size_t i = 0; i < 37; ++i) tn::as_span(b)[i] = static_cast<float>(i % 5) - 1;
  const auto x = tn::compile(shifted)(b);
  const auto back = tn::eval(2.0f * x + tn::sum(x));
  for (int i = 0; i < 37; ++i) CHECK(back(i) == Approx(b(i)).margin(1e-3));

  tn::tensor<double, tn::shape<3, 4>> rights = {{1, 2, -3, 0.5}, {1, 2, -3, std::nan("")}, {4, 3, 2, 1}};
  const auto all = tn::vmap<tn::unmapped, 0>(tn::grad<1>(by_cg))(definite, rights);
  const auto third = interpreted(tn::grad<1>(by_solve).function, definite, vector{4, 3, 2, 1})[0];
  for (int k = 0; k < 4; ++k) {
    CHECK(all(1, k) != all(1, k));
    CHECK(all(2, k) == Approx(third[k]));
  }
}

TEST_CASE("cg: a preconditioner, and the most steps; gmres: rounds that are shorter than the system") {
  static constexpr auto stiff = [](auto x, auto d) { return d * x + 0.1 * tn::flip<0>(x); };
  constexpr auto few = tn::compile([](auto b, auto d) { return tn::cg([=](auto x) { return stiff(x, d); }, b, {.tolerance = 1e-10, .most = 6}, [=](auto x) { return x / d; }); });
  constexpr auto plain = tn::compile([](auto b, auto d) { return tn::cg([=](auto x) { return stiff(x, d); }, b, {.tolerance = 1e-10, .most = 6}); });
  constexpr auto rounds = tn::compile([](auto b, auto d) { return tn::gmres<4>([=](auto x) { return stiff(x, d); }, b, {.tolerance = 1e-10}, [=](auto x) { return x / d; }); });
  tn::tensor<double, tn::shape<16>> d, b;
  for (std::size_t i = 0; i < 16; ++i) tn::as_span(d)[i] = std::pow(10.0, 0.3 * static_cast<double>(i)), tn::as_span(b)[i] = 1 + static_cast<double>(i % 3);
  const auto distance = [&](const auto& x) {
    double most = 0;
    for (int i = 0; i < 16; ++i) most = std::fmax(most, std::fabs(d(i) * x(i) + 0.1 * x(15 - i) - b(i)));
    return most;
  };
  CHECK(distance(few(b, d)) < 1e-9);
  CHECK(distance(plain(b, d)) > 1e-3);
  CHECK(distance(rounds(b, d)) < 1e-8);
}

TEST_CASE("an implicit heat equation: the gradient with respect to the conductivity and to the first state") {
  // u' = (k u')' between two ends that are held at 0, by implicit steps of time. Each of them is a system, and the scan goes through the systems.
  static constexpr auto diffused = [](auto u, auto k) {
    const auto flux = k * (tn::pad<0, 0, 1>(u, 0.0) - tn::pad<0, 1, 0>(u, 0.0));
    return tn::slice<0, 1, 30>(flux) - tn::slice<0, 0, 30>(flux);
  };
  static constexpr auto implicit = [](auto u, auto k) { return u - 0.4 * diffused(u, k); };
  static constexpr auto final_state = [](auto u, auto k) {
    const auto step = [=](auto, auto state) { return tn::linear_solve(implicit, [](auto a, auto b) { return tn::cg(a, b, {.tolerance = 1e-14}); }, tn::symmetric)(state, k); };
    return tn::fori_loop(12, step, u);
  };
  static constexpr auto misfit = [](auto u, auto k, auto wanted) { return tn::sum(tn::square(final_state(u, k) - wanted)); };
  tn::tensor<double, tn::shape<30>> u, wanted;
  tn::tensor<double, tn::shape<31>> k;
  for (std::size_t i = 0; i < 30; ++i) tn::as_span(u)[i] = std::sin(0.3 * static_cast<double>(i)), tn::as_span(wanted)[i] = 0.1 * std::cos(0.2 * static_cast<double>(i));
  for (std::size_t i = 0; i < 31; ++i) tn::as_span(k)[i] = 0.5 + 0.3 * std::sin(0.7 * static_cast<double>(i));
  const auto [value, du, dk] = tn::value_and_grad<0, 1>(misfit)(u, k, wanted);
  const auto at = [&](double& x, double h) {
    const double was = x;
    x = was + h;
    const double found = tn::compile(misfit)(u, k, wanted).item();
    x = was;
    return found;
  };
  for (const int i : {0, 7, 29}) {
    INFO(i);
    double &x = tn::as_span(u)[static_cast<std::size_t>(i)], &c = tn::as_span(k)[static_cast<std::size_t>(i)];
    CHECK(du(i) == Approx((at(x, 1e-5) - at(x, -1e-5)) / 2e-5).epsilon(1e-6).margin(1e-9));
    CHECK(dk(i) == Approx((at(c, 1e-5) - at(c, -1e-5)) / 2e-5).epsilon(1e-6).margin(1e-9));
  }
  CHECK(value.item() == Approx(tn::compile(misfit)(u, k, wanted).item()));
}
