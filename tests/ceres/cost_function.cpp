// SPDX-License-Identifier: BSL-1.0
// One residual block, beside Ceres' AutoDiffCostFunction and compiled functions of Tenure.
#include <cmath>
#include <vector>

#include <ceres/ceres.h>

#include <tenure/interop/ceres.hpp>

#include "../counted_heap.hpp"
#include "residuals.hpp"

#undef CHECK  // glog, which Ceres includes, has one that aborts
#include "../catch.hpp"

using namespace residuals;

namespace {

/// What a cost function of two blocks computes, with Jacobians for those blocks that are asked for. Each array begins beside a multiple of 64 bytes.
struct evaluation {
  std::vector<double> residuals, jacobian[2];

  evaluation(const ceres::CostFunction& f, const std::vector<double>& a, const std::vector<double>& b, bool of_a = true, bool of_b = true, bool any = true)
      : residuals(static_cast<std::size_t>(f.num_residuals()), -1) {
    const std::vector<double>* const blocks[] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
      REQUIRE(f.parameter_block_sizes()[static_cast<std::size_t>(i)] == static_cast<int>(blocks[i]->size()));
      jacobian[i].assign(residuals.size() * blocks[i]->size(), -1);
    }
    const double* const parameters[] = {a.data(), b.data()};
    double* const jacobians[] = {of_a ? jacobian[0].data() : nullptr, of_b ? jacobian[1].data() : nullptr};
    REQUIRE(f.Evaluate(parameters, residuals.data(), any ? const_cast<double**>(jacobians) : nullptr));
  }
};
void same(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(wanted[i]).epsilon(1e-12).margin(1e-12));
}
void same(const evaluation& found, const evaluation& wanted) {
  same(found.residuals, wanted.residuals);
  for (int i = 0; i < 2; ++i) same(found.jacobian[i], wanted.jacobian[i]);
}
template <class X>
std::vector<double> numbers(const X& x) { return {x.data(), x.data() + x.size()}; }

const std::vector<double> camera{0.1, -0.2, 0.3, 0.5, -0.4, 6, 500, 0.01, -0.002}, point{0.3, -0.7, 1.1};
const std::vector<double> pose_a{0.8, 0.1, 0.5, -0.3, 1, 2, 3}, pose_b{0.7, -0.1, 0.4, -0.6, 1.5, 2.2, 3.1};
const real<2> seen{40, -30};
const real<7> measured{0.9, 0.1, 0.2, -0.3, 0.4, 0.5, 0.6};

}  // namespace

TEST_CASE("cost_function: residuals and Jacobians are those of AutoDiffCostFunction") {
  same(evaluation(*tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, seen), camera, point),
       evaluation(ceres::AutoDiffCostFunction<projection_of_ceres, 2, 9, 3>(new projection_of_ceres{40, -30}), camera, point));
  same(evaluation(*tn::cost_function<tn::shape<7>, tn::shape<7>>(edge, measured), pose_a, pose_b),
       evaluation(ceres::AutoDiffCostFunction<edge_of_ceres, 6, 7, 7>(new edge_of_ceres{{0.9, 0.1, 0.2, -0.3}, {0.4, 0.5, 0.6}}), pose_a, pose_b));
}

TEST_CASE("cost_function: residuals and Jacobians are those of compile(f) and jacobian(f)") {
  const auto c = tn::from<tn::shape<9>>(camera.data());
  const auto p = tn::from<tn::shape<3>>(point.data());
  const evaluation found(*tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, seen), camera, point);
  same(found.residuals, numbers(tn::compile(projection)(c, p, seen)));
  const auto [by_camera, by_point] = tn::jacobian<0, 1>(projection)(c, p, seen);
  same(found.jacobian[0], numbers(by_camera));
  same(found.jacobian[1], numbers(by_point));
}

TEST_CASE("cost_function: what Ceres does not ask for is not written") {
  const auto cost = tn::cost_function<tn::shape<7>, tn::shape<7>>(edge, measured);
  const evaluation all(*cost, pose_a, pose_b);
  const std::vector<double> untouched(42, -1);
  for (const int asked : {0, 1, 2}) {
    const evaluation some(*cost, pose_a, pose_b, asked == 1, asked == 2);
    same(some.residuals, all.residuals);
    CHECK(some.jacobian[0] == (asked == 1 ? all.jacobian[0] : untouched));
    CHECK(some.jacobian[1] == (asked == 2 ? all.jacobian[1] : untouched));
  }
  const evaluation none(*cost, pose_a, pose_b, true, true, false);
  same(none.residuals, all.residuals);
  CHECK(none.jacobian[0] == untouched);
  CHECK(none.jacobian[1] == untouched);
}

TEST_CASE("cost_function: Evaluate allocates nothing") {
#if TENURE_TEST_COUNTS_MALLOC
  CHECK(counted([] {
    const std::vector<double> x(10);
    const double* volatile seen_by_nobody = x.data();  // else the compiler leaves out the vector
    static_cast<void>(seen_by_nobody);
  }) == 3);
  const auto cost = tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, seen);
  const double* const parameters[] = {camera.data(), point.data()};
  double r[2], by_camera[18], by_point[6];
  double *both[] = {by_camera, by_point}, *one[] = {nullptr, by_point}, *none[] = {nullptr, nullptr};
  for (double** const jacobians : {both, one, none, static_cast<double**>(nullptr)})
    CHECK(counted([&] { cost->Evaluate(parameters, r, jacobians); }) == 0);
#endif
}

TEST_CASE("cost_function: blocks are numbers and matrices, residuals a number, data trees, views and indices") {
  constexpr auto f = [](auto scale, auto matrix, auto both, auto row, auto i) {
    const auto& [x, y] = both;
    return scale * sum(matmul(matrix, x) * row) + y * x(i);
  };
  real<3, 2> columns{{1, 10}, {2, 20}, {3, 30}};
  const std::vector<double> scale{0.5}, matrix{1, 2, 3, 4, 5, 6};
  const auto made = [&](int i) {
    return tn::cost_function<tn::shape<>, tn::shape<2, 3>>(f, std::tuple{real<3>{1, -1, 2}, 2.0}, columns[tn::range<0, 2>()].at(tn::all, 1), i);
  };
  const auto cost = made(2);
  tn::as_span(columns)[1] = 1e9;  // the cost function holds a copy
  const evaluation found(*cost, scale, matrix);
  same(found.residuals, {0.5 * (5 * 10 + 11 * 20) + 2 * 2});
  same(found.jacobian[0], {270});
  same(found.jacobian[1], {5, -5, 10, 10, -10, 20});
  CHECK_THROWS_AS(made(3), tn::index_error);
}

TEST_CASE("cost_function: a matrix that is not positive definite is a step that Ceres rejects") {
  constexpr auto f = [](auto a) { return diagonal(tn::cholesky(tn::reshape<2, 2>(a), tn::checked)); };
  const auto cost = tn::cost_function<tn::shape<4>>(f);
  const double good[] = {4, 0, 0, 9}, bad[] = {1, 2, 2, 1};
  const double *at_good[] = {good}, *at_bad[] = {bad};
  double r[2];
  REQUIRE(cost->Evaluate(at_good, r, nullptr));
  CHECK((r[0] == 2 && r[1] == 3));
  CHECK(!cost->Evaluate(at_bad, r, nullptr));
}

TEST_CASE("cost_function: a residual that is not finite is left to Ceres") {
  constexpr auto f = [](auto x) { return log(x); };
  double x[] = {-1};
  const double* const at[] = {x};
  double r = 0;
  const auto cost = tn::cost_function<tn::shape<1>>(f);
  CHECK(cost->Evaluate(at, &r, nullptr));
  CHECK(std::isnan(r));
  ceres::Problem problem;
  const auto id = problem.AddResidualBlock(tn::cost_function<tn::shape<1>>(f).release(), nullptr, x);
  CHECK(!problem.EvaluateResidualBlock(id, false, &r, nullptr, nullptr));
}

namespace {
constexpr auto decay = [](auto p, auto t, auto y) { return p[0] * exp(-p[1] * t) - y; };
struct decay_of_ceres {
  double t, y;

  template <class T>
  bool operator()(const T* p, T* residual) const {
    residual[0] = p[0] * exp(-p[1] * t) - y;
    return true;
  }
};
template <class Cost>
ceres::Solver::Summary fit(Cost cost, double (&p)[2]) {
  ceres::Problem problem;
  for (int i = 0; i < 20; ++i) {
    const double t = 0.1 * i, y = 3 * std::exp(-0.7 * t) + 0.01 * std::sin(7.0 * i) + (i == 11);
    problem.AddResidualBlock(cost(t, y), new ceres::HuberLoss(0.1), p);
  }
  ceres::Solver::Options options;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return summary;
}
}  // namespace

TEST_CASE("cost_function: Ceres takes the same steps as with AutoDiffCostFunction") {
  double ours[] = {1, 0}, theirs[] = {1, 0};
  const auto found = fit([](double t, double y) { return tn::cost_function<tn::shape<2>>(decay, t, y).release(); }, ours);
  const auto wanted = fit([](double t, double y) { return new ceres::AutoDiffCostFunction<decay_of_ceres, 1, 2>(new decay_of_ceres{t, y}); }, theirs);
  CHECK(found.termination_type == ceres::CONVERGENCE);
  CHECK(found.iterations.size() == wanted.iterations.size());
  CHECK(found.final_cost == Approx(wanted.final_cost).epsilon(1e-12));
  for (int i = 0; i < 2; ++i) CHECK(ours[i] == Approx(theirs[i]).epsilon(1e-10));
}
