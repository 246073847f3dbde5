// SPDX-License-Identifier: BSL-1.0
// L-BFGS: known minima, the Wolfe conditions, logistic regression against Newton's method, repeatability, and what stops it.
#include "../catch.hpp"

#include <cmath>
#include <limits>

#include <boost/hana/define_struct.hpp>

#include <tenure/passes/verify.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {
/// Rosenbrock's valley in n dimensions, whose minimum is 0 at (1, ..., 1).
constexpr auto valley = [](auto x) {
  constexpr std::int64_t n = decltype(x)::shape_type::value[0];
  const auto head = x[tn::range<0, n - 1>()], tail = x[tn::range<1, n>()];
  return sum(100.0 * square(tail - square(head)) + square(1.0 - head));
};

template <class Kind>
struct classifier {
  BOOST_HANA_DEFINE_STRUCT(classifier, (tn::param<Kind, double, shape<4>>, w), (tn::param<Kind, double, shape<>>, b));
};
/// The logistic loss with a penalty, which has one minimum.
constexpr auto logistic = [](auto model, auto x, auto y, auto penalty) {
  const auto z = matmul(x, model.w) + model.b;
  return mean(tn::softplus(z, 1.0, 1000.0) - y * z) + penalty * (sum(square(model.w)) + square(model.b));
};
}  // namespace

TEST_CASE("Rosenbrock's valley: from the usual start to the minimum") {
  tn::tensor<double, shape<2>> x{-1.2, 1};
  const auto r = tn::minimize(valley, tn::optim::lbfgs{.gradient_tolerance = 1e-10, .value_tolerance = 0})(x);
  CHECK(r.why == tn::optim::stop::gradient);
  CHECK(r.converged());
  CHECK(r.gradient_norm <= 1e-10);
  CHECK(r.iterations < 60);
  CHECK(r.evaluations < 90);
  CHECK(r.value < 1e-20);
  CHECK(x(0) == Approx(1).epsilon(1e-9));
  CHECK(x(1) == Approx(1).epsilon(1e-9));

  // Ten dimensions, a short history, which is full many times, and none, which is the steepest descent.
  auto many = tn::full<double>(shape<10>{}, -1.0);
  const auto short_one =
      tn::minimize(valley, tn::optim::lbfgs{.history = 3, .most_iterations = 500, .gradient_tolerance = 1e-9, .value_tolerance = 0})(many);
  CHECK(short_one.converged());
  CHECK(short_one.iterations > 10);
  // The start lies in the basin of the global minimum or of the one near (-1, 1, ..., 1): both have a gradient of 0.
  CHECK(norm(std::tuple{tn::grad(valley)(many)}).item() < 1e-9);
  tn::tensor<double, shape<2>> steep{-1.2, 1};
  const auto slow = tn::minimize(valley, tn::optim::lbfgs{.history = 0, .most_iterations = 50, .value_tolerance = 0})(steep);
  CHECK(slow.why == tn::optim::stop::iterations);
  CHECK(slow.iterations == 50);
  CHECK(slow.value < 24.2);
  CHECK(slow.value == Approx(tn::compile(valley)(steep).item()).epsilon(1e-14));
  tn::tensor<double, shape<2>> with_one{-1.2, 1};
  const auto faster = tn::minimize(valley, tn::optim::lbfgs{.history = 1, .most_iterations = 50, .value_tolerance = 0})(with_one);
  CHECK(faster.value < 1e-3 * slow.value);
}

// Law: the same arguments give the same bits.
TEST_CASE("the value falls in each iteration, and the same call gives the same bits") {
  double before = std::numeric_limits<double>::infinity();
  for (const int n : {1, 2, 3, 5, 8, 13, 21, 30}) {
    tn::tensor<double, shape<2>> a{-1.2, 1}, b{-1.2, 1};
    const auto step = tn::minimize(valley, tn::optim::lbfgs{.most_iterations = n, .value_tolerance = 0});
    const auto first = step(a), second = step(b);
    CHECK(first.iterations == n);
    CHECK(first.value < before);
    CHECK(first.value == second.value);
    CHECK(a(0) == b(0));
    CHECK(a(1) == b(1));
    before = first.value;
  }
}

TEST_CASE("logistic regression of a model, against Newton's method") {
  constexpr std::int64_t n = 60;
  tn::engine random(2);
  const auto x = tn::normal<double>(shape<n, 4>{}, random);
  tn::tensor<double, shape<n>> y;
  for (std::int64_t i = 0; i < n; ++i) y[i].fill_(x(i, 0) - 2 * x(i, 1) + 0.5 + 0.5 * x(i, 2) * x(i, 3) > 0 ? 1.0 : 0.0);
  const double penalty = 0.01;

  auto model = tn::init<classifier>(random);
  const auto r = tn::minimize(logistic, tn::optim::lbfgs{.gradient_tolerance = 1e-11, .value_tolerance = 0})(model, x, y, penalty);
  CHECK(r.converged());
  CHECK(r.iterations < 40);

  // Newton's method in plain loops.
  double p[5] = {};
  for (int turn = 0; turn < 30; ++turn) {
    double g[5], h[5][6] = {};
    for (int a = 0; a < 5; ++a) g[a] = 2 * penalty * p[a], h[a][a] = 2 * penalty;
    for (std::int64_t i = 0; i < n; ++i) {
      double row[5] = {x(i, 0), x(i, 1), x(i, 2), x(i, 3), 1}, z = 0;
      for (int a = 0; a < 5; ++a) z += row[a] * p[a];
      const double s = 1 / (1 + std::exp(-z));
      for (int a = 0; a < 5; ++a) {
        g[a] += (s - y(i)) * row[a] / n;
        for (int b = 0; b < 5; ++b) h[a][b] += s * (1 - s) * row[a] * row[b] / n;
      }
    }
    for (int a = 0; a < 5; ++a) h[a][5] = g[a];
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 5; ++b)
        if (b != a) {
          const double f = h[b][a] / h[a][a];
          for (int c = a; c < 6; ++c) h[b][c] -= f * h[a][c];
        }
    for (int a = 0; a < 5; ++a) p[a] -= h[a][5] / h[a][a];
  }
  for (int a = 0; a < 4; ++a) CHECK(model.w(a) == Approx(p[a]).margin(2e-9));
  CHECK(model.b.item() == Approx(p[4]).margin(2e-9));
}

TEST_CASE("float32, leaves, tuples, and a start at the minimum") {
  std::tuple pair{tn::tensor<float, shape<3>>{1, -2, 3}, tn::variable<float, shape<>>(4.0f)};
  const auto f = [](auto m, auto target) {
    return sum(square(std::get<0>(m) - target)) + 10.0f * square(std::get<1>(m) - 1.0f) + exp(std::get<1>(m));
  };
  const auto r = tn::minimize(f)(pair, tn::tensor<float, shape<3>>{3, 2, 1});
  CHECK(r.converged());
  CHECK(std::get<0>(pair)(1) == Approx(2).epsilon(1e-4));
  const double b = std::get<1>(pair).item();
  CHECK(20 * (b - 1) + std::exp(b) == Approx(0).margin(1e-3));
  // Tensors with names are one tuple.
  tn::tensor<float, shape<3>> first{1, -2, 3};
  tn::tensor<float, shape<>> second = 4;
  CHECK(tn::minimize(f)(std::tie(first, second), tn::tensor<float, shape<3>>{3, 2, 1}).value == r.value);
  CHECK(second.item() == std::get<1>(pair).item());

  tn::tensor<double, shape<2>> one{1, 1};
  const auto at_once = tn::minimize(valley)(one);
  CHECK(at_once.iterations == 0);
  CHECK(at_once.evaluations == 1);
  CHECK(at_once.why == tn::optim::stop::gradient);
}

TEST_CASE("a function that is not finite everywhere, and one that has no minimum") {
  // log(x) is NaN for negative x, where the first step of length 1 lands.
  const auto barrier = [](auto x) { return sum(x * 50.0 - log(x)); };
  tn::tensor<double, shape<2>> x{0.5, 2};
  const auto r = tn::minimize(barrier, tn::optim::lbfgs{.gradient_tolerance = 1e-8, .value_tolerance = 0})(x);
  CHECK(r.converged());
  CHECK(x(0) == Approx(0.02).epsilon(1e-8));

  tn::tensor<double, shape<2>> negative{-1, 2};
  CHECK_THROWS_WITH(tn::minimize(barrier)(negative), Catch::Matchers::Contains("the value at the start is"));
  CHECK(negative(0) == -1);

  tn::tensor<double, shape<1>> line{0};
  const auto endless = tn::minimize([](auto a) { return sum(a); }, tn::optim::lbfgs{.most_iterations = 5})(line);
  CHECK(!endless.converged());
  CHECK(std::isfinite(line(0)));

  // A gradient that points uphill: nothing is written.
  const auto wrong = [](auto a) { return sum(tn::stop_gradient(square(a) + a) - a); };
  tn::tensor<double, shape<1>> start{2};
  const auto refused = tn::minimize(wrong)(start);
  CHECK(refused.why == tn::optim::stop::search);
  CHECK(start(0) == 2);
}

TEST_CASE("a gradient that is not finite is an error at the start, and too far in the line search") {
  // 0 * infinity: the value is 0, and the gradient is NaN.
  tn::tensor<double, shape<1>> x{0};
  const auto kink = [](auto a) { return sum(sqrt(square(a))); };
  CHECK_THROWS_WITH(tn::minimize(kink)(x), Catch::Matchers::Contains("the norm of the gradient at the start is NaN"));
  CHECK(x(0) == 0);

  // The first step has length 1, and from 0.8 on the gradient is NaN where the value is finite.
  const auto cliff = [](auto a, auto zero) {
    const auto inside = (a + 1.0) * where(a < 0.8, 1.0, 0.0);
    return sum(5.0 * square(a - 0.6) + zero * sqrt(square(inside)));
  };
  const auto r = tn::minimize(cliff, tn::optim::lbfgs{.gradient_tolerance = 1e-9, .value_tolerance = 0})(x, 0.0);
  CHECK(r.converged());
  CHECK(r.gradient_norm <= 1e-9);
  CHECK(x(0) == Approx(0.6).epsilon(1e-9));
}

TEST_CASE("a value of minus infinity is no minimum") {
  // The first step lands exactly on 0.
  tn::tensor<double, shape<1>> x{1};
  const auto r = tn::minimize([](auto a) { return sum(log(square(a))); })(x);
  CHECK(!r.converged());
  CHECK(std::isfinite(r.value));
  CHECK(x(0) != 0);
}

TEST_CASE("it begins again with the gradient where the last steps give no direction") {
  using tn::optim::lbfgs;
  // 1 / (s y) overflows where s y is a denormal number. The line search would spend all of its evaluations on a direction of infinities.
  tn::tensor<double, shape<2>> tiny{3e-155, 3e-155};
  const auto flat_bowl = [](auto a) { return sum(square(a) * (0.3 + 0.2 * tn::cast<double>(tn::index_along<0>(a)))); };
  const auto flat = tn::minimize(flat_bowl, lbfgs{.gradient_tolerance = 1e-165, .value_tolerance = -1})(tiny);
  CHECK(flat.why == tn::optim::stop::gradient);
  CHECK(flat.evaluations < 2 * flat.iterations);
  CHECK(std::fabs(tiny(0)) < 1e-160);

  // The curvature far from the minimum says that it is 10^14 away. A line search of 25 evaluations does not come back from there.
  tn::tensor<double, shape<1>> steep{10};
  const auto nearly_linear = [](auto a) { return sum(a - 1e-12 * log(a)); };
  const auto twice = tn::minimize(nearly_linear, lbfgs{.value_tolerance = 0})(steep);
  CHECK(twice.why == tn::optim::stop::search);
  CHECK(twice.evaluations > 2 * lbfgs{}.most_evaluations);
  CHECK(steep(0) == Approx(1e-12).epsilon(1e-3));

  // Curvature for some steps, and then none: the old steps are forgotten. A direction from them would lead to 10^56.
  tn::tensor<double, shape<2>> ridge{1, 0};
  const auto saddle = [](auto a) { return 50.0 * square(a(0)) - a(1) - 1e-3 * square(a(1)); };
  const auto endless = tn::minimize(saddle, lbfgs{.history = 3, .most_iterations = 6, .value_tolerance = 0})(ridge);
  CHECK(endless.why == tn::optim::stop::iterations);
  CHECK(ridge(1) > 1e9);
  CHECK(ridge(1) < 1e13);
}

TEST_CASE("float32: a gradient whose square overflows") {
  tn::tensor<float, shape<2>> x{1e7f, -2e7f};
  const auto r = tn::minimize([](auto a) { return sum(square(square(a))); })(x);
  CHECK(r.converged());
  CHECK(std::fabs(x(0)) < 0.1f);
  CHECK(std::fabs(x(1)) < 0.1f);
}

namespace {
/// A bowl whose axes have different curvatures.
constexpr auto bowl = [](auto x) { return sum(square(x - 1.0) * (1.0 + tn::cast<double>(tn::index_along<0>(x)))); };
constexpr auto bowls = [](auto both) { return bowl(std::get<0>(both)) + 0.5 * bowl(std::get<1>(both)) + square(sum(std::get<0>(both)) - sum(std::get<1>(both))); };
template <class F, class... X>
void check_graph(F, const X&...) {
  const auto v = tn::passes::verify(tn::program<tn::detail::source_of<F, X...>>::traced.view());
  if (!v.ok()) FAIL(v.what << ": %" << v.node << " " << v.lhs << " " << v.rhs);
}
}  // namespace

TEST_CASE("run-time extents give the bits of static ones") {
  using row = tn::tensor<double, shape<tn::dyn>>;
  const auto given = [](std::int64_t n) -> row { return tn::full<double>(shape<tn::dyn>{}, -0.5, n); };
  tn::tensor<double, shape<3>> x{-0.5, -0.5, -0.5};
  row y = given(3);
  const auto a = tn::minimize(bowl, tn::optim::lbfgs{})(x), b = tn::minimize(bowl, tn::optim::lbfgs{})(y);
  CHECK(a.converged());
  CHECK(a.value == b.value);
  CHECK(a.iterations == b.iterations);
  for (int i = 0; i < 3; ++i) CHECK(x(i) == y(i));

  std::tuple two{given(4), given(7)};
  const auto c = tn::minimize(bowls, tn::optim::lbfgs{})(two);
  CHECK(c.converged());
  CHECK(c.gradient_norm < 1e-3);
  check_graph(tn::optim::detail::recursion_step{}, two, 0.0, two, 0.0, two);
  check_graph(tn::optim::detail::curvature_pair{}, two, two, two, two);
  check_graph(tn::optim::detail::trial_of<decltype(bowls)>{}, two, two, 0.0);
}
