// SPDX-License-Identifier: BSL-1.0
// Jacobians and Hessians against central differences, and against each other.
#include "law.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
using matrix = tn::tensor<double, tn::shape<2, 3>>;

namespace {

constexpr auto f = [](auto w, auto x) { return tn::sin(tn::matmul(w, x)) * tn::sum(x * x) + tn::sum(tn::exp(w), tn::axis<1>); };
constexpr auto energy = [](auto x, auto w) { return tn::sum(tn::tanh(tn::matmul(w, x)) * tn::exp(x.at(0))) + x.at(1) * x.at(1) * x.at(2); };
constexpr auto recurrence = [](auto x, auto w) {
  return std::get<0>(tn::scan([=](auto c, auto e) { return std::tuple{tn::tanh(c * w + e * x), tn::nothing}; }, x, x));
};

const vector x0 = {0.4, -0.7, 1.1}, w0 = {0.9, 0.3, -0.5};
const matrix m0 = {{0.3, -0.2, 0.8}, {-0.6, 0.5, 0.1}};

/// Compares a Jacobian, [outputs, inputs], with central differences of f in the elements of x.
template <class J, class F, class X>
void agrees_with_differences(const J& jacobian, F value, X x) {
  const double h = 1e-5;
  const std::int64_t inputs = x.size(), outputs = static_cast<std::int64_t>(jacobian.size()) / inputs;
  for (std::int64_t k = 0; k < inputs; ++k) {
    double& e = tn::as_span(x)[static_cast<std::size_t>(k)];
    const double was = e;
    e = was + h;
    const auto above = value(x);
    e = was - h;
    const auto below = value(x);
    e = was;
    for (std::int64_t i = 0; i < outputs; ++i) {
      INFO("d y[" << i << "] / d x[" << k << "]");
      CHECK(jacobian[i * inputs + k] == Approx((above[i] - below[i]) / (2 * h)).epsilon(1e-7).margin(1e-8));
    }
  }
}

}  // namespace

TEST_CASE("jacobian, jacfwd and jacrev are the derivatives in all directions") {
  const auto of_w = [](const matrix& w) { return judged::interpreted(f, w, x0)[0]; };
  const auto of_x = [](const vector& x) { return judged::interpreted(f, m0, x)[0]; };
  const auto both = judged::interpreted(tn::jacobian<0, 1>(f).function, m0, x0);
  REQUIRE(both[0].shape == tn::extents{3, {2, 2, 3}});
  REQUIRE(both[1].shape == tn::extents{2, {2, 3}});
  agrees_with_differences(both[0], of_w, m0.clone());
  agrees_with_differences(both[1], of_x, x0.clone());
  const auto forward = judged::interpreted(tn::jacfwd<0, 1>(f).function, m0, x0), reverse = judged::interpreted(tn::jacrev<0, 1>(f).function, m0, x0);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::int64_t i = 0; i < both[r].size(); ++i) {
      CHECK(forward[r][i] == Approx(both[r][i]).epsilon(1e-12));
      CHECK(reverse[r][i] == Approx(both[r][i]).epsilon(1e-12));
    }
}

TEST_CASE("the derivative of one number by one number is no batch: it shares a kernel with the number") {
  constexpr auto near = [](auto x) { return 1.0 / tn::sqrt(x * x + 2.0); };
  const auto check = [](const auto& derivative, const auto& x, const tn::extents& shape, double wanted) {
    using plan = decltype(derivative.plan(x));
    STATIC_REQUIRE(plan::kernels() == 1);
    const auto found = derivative(x);
    CHECK(found.extents() == shape);
    CHECK(tn::as_span(found)[0] == Approx(wanted));
  };
  const double slope = -1.5 / std::pow(1.5 * 1.5 + 2, 1.5), curvature = (2 * 1.5 * 1.5 - 2) / std::pow(1.5 * 1.5 + 2, 2.5);
  check(tn::jacfwd(near), 1.5, {}, slope);
  check(tn::jacrev(near), 1.5, {}, slope);
  check(tn::hessian(near), 1.5, {}, curvature);
  const tn::tensor<double, tn::shape<1, 1>> one = {{1.5}};
  check(tn::jacfwd(near), one, {4, {1, 1, 1, 1}}, slope);
  check(tn::jacrev(near), one, {4, {1, 1, 1, 1}}, slope);
}

TEST_CASE("Law: a Jacobian over a loop, and its product with a vector is jvp") {
  const auto value = [](const vector& x) { return judged::interpreted(recurrence, x, w0)[0]; };
  for (const auto& j : {judged::interpreted(tn::jacfwd(recurrence).function, x0, w0)[0], judged::interpreted(tn::jacrev(recurrence).function, x0, w0)[0]}) {
    agrees_with_differences(j, value, x0.clone());
    const vector v = {0.2, -0.5, 0.7}, zero = {0, 0, 0};
    const auto tangent = judged::interpreted(tn::jvp(recurrence).function, x0, w0, v, zero)[1];
    for (std::int64_t i = 0; i < 3; ++i)
      CHECK(j[3 * i] * v.data()[0] + j[3 * i + 1] * v.data()[1] + j[3 * i + 2] * v.data()[2] == Approx(tangent[i]).epsilon(1e-12));
  }
}

TEST_CASE("Law: a Hessian is symmetric, the Jacobian of the gradient, and hvp is its product with a vector") {
  const auto h = judged::interpreted(tn::hessian(energy).function, x0, m0)[0];
  REQUIRE(h.shape == tn::extents{2, {3, 3}});
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t k = 0; k < i; ++k) CHECK(h[3 * i + k] == Approx(h[3 * k + i]).epsilon(1e-13));
  agrees_with_differences(h, [](const vector& x) { return judged::interpreted(tn::grad(energy).function, x, m0)[0]; }, x0.clone());
  const vector v = {0.2, -0.5, 0.7};
  const auto product = judged::interpreted(tn::hvp(energy).function, x0, m0, v)[0];
  for (std::int64_t i = 0; i < 3; ++i) CHECK(product[i] == Approx(h[3 * i] * v.data()[0] + h[3 * i + 1] * v.data()[1] + h[3 * i + 2] * v.data()[2]).epsilon(1e-12));
  const auto of_w = judged::interpreted(tn::hessian<1>(energy).function, x0, m0)[0];
  REQUIRE(of_w.shape == tn::extents{4, {2, 3, 2, 3}});
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t k = 0; k < i; ++k) CHECK(of_w[6 * i + k] == Approx(of_w[6 * k + i]).epsilon(1e-12).margin(1e-14));
}

TEST_CASE("Jacobians compile: trees, numbers, run-time extents, a batch of Hessians") {
  const auto tree = tn::jacobian([](auto p) { return std::get<0>(p) * std::get<1>(p); })(std::tuple{x0.clone(), 2.0});
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) CHECK(std::get<0>(tree).data()[3 * i + k] == (i == k ? 2.0 : 0.0));
    CHECK(std::get<1>(tree).data()[i] == x0.data()[i]);
  }
  CHECK(tn::jacobian([](auto x) { return x * x; })(3.0).item() == 6.0);
  for (const std::int64_t n : {0, 1, 4}) {
    const auto x = batch::numbers(1, n);
    const auto square = tn::jacobian([](auto x) { return x * tn::sum(x); })(x);
    REQUIRE(square.extents() == tn::extents{2, {n, n}});
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x.data()[i];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < n; ++k) CHECK(square.data()[i * n + k] == Approx(x.data()[i] + (i == k ? sum : 0)).epsilon(1e-13));
  }
  constexpr auto cube = [](auto x) { return tn::sum(x * x * x); };
  const auto hessians = tn::vmap(tn::hessian(cube))(m0);
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) CHECK(hessians.data()[9 * s + 3 * i + k] == Approx(i == k ? 6 * m0.data()[3 * s + i] : 0));
  const auto [hv] = std::tuple{tn::hvp(cube)(x0, x0)};
  for (int i = 0; i < 3; ++i) CHECK(hv.data()[i] == Approx(6 * x0.data()[i] * x0.data()[i]));
}

TEST_CASE("linearize is the tangent, for several directions in one trace and at once") {
  const vector u = {0.2, -0.5, 0.7}, v = {1, 0, -1}, zero = {0, 0, 0};
  const auto both = judged::interpreted([](auto x, auto w, auto u, auto v) {
    auto [y, d] = tn::linearize(recurrence)(x, w);
    return std::tuple{y, d(u, u * 0.0), d(v, u)};
  }, x0, w0, u, v);
  const auto first = judged::interpreted(tn::jvp(recurrence).function, x0, w0, u, zero), second = judged::interpreted(tn::jvp(recurrence).function, x0, w0, v, u);
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(both[0][i] == Approx(first[0][i]));
    CHECK(both[1][i] == Approx(first[1][i]));
    CHECK(both[2][i] == Approx(second[1][i]));
  }
  const auto [y, d] = tn::linearize([](auto x, auto k) { return x * x * k; })(x0, 3.0);
  const auto along = d(v, 2.0);
  for (int i = 0; i < 3; ++i) {
    CHECK(y(i) == 3 * x0(i) * x0(i));
    CHECK(along(i) == Approx(6 * x0(i) * v(i) + 2 * x0(i) * x0(i)));
  }
}
