// SPDX-License-Identifier: BSL-1.0
// All residual blocks of one kind, beside one cost function for each: Ceres' AutoDiffCostFunction, and cost_function.
#include <vector>

#include <ceres/ceres.h>

#include <tenure/interop/ceres.hpp>
#include <tenure/threads.hpp>

#include "bench/bundle/problem.hpp"
#include "../counted_heap.hpp"
#include "residuals.hpp"

#undef CHECK  // glog, which Ceres includes, has one that aborts
#include "../catch.hpp"

using namespace residuals;

namespace {

const bench::bundle::problem given = bench::bundle::make_problem(6, 80, 4);

/// A bundle adjustment with the parameters in arrays.
struct adjustment {
  std::vector<double> camera = given.camera, point = given.point;

  auto tables() { return std::pair{tn::from<tn::shape<tn::dyn, 9>>(camera.data(), given.cameras), tn::from<tn::shape<tn::dyn, 3>>(point.data(), given.points)}; }
  auto blocks() {
    auto [cameras, points] = tables();
    return tn::residual_blocks(projection, tn::rows(cameras, tn::from(given.camera_of)), tn::rows(points, tn::from(given.point_of)),
                               tn::from<tn::shape<tn::dyn, 2>>(given.seen.data(), static_cast<std::int64_t>(given.observations())));
  }
  template <class Cost>
  void add(ceres::Problem& problem, Cost cost, ceres::LossFunction* loss) {
    for (std::size_t i = 0; i < given.observations(); ++i)
      problem.AddResidualBlock(cost(&given.seen[2 * i]), loss, &camera[static_cast<std::size_t>(9 * given.camera_of[i])], &point[static_cast<std::size_t>(3 * given.point_of[i])]);
  }
  ceres::Solver::Summary solve(ceres::Problem& problem, int threads = 1) const {
    ceres::Solver::Options options;
    options.logging_type = ceres::SILENT;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.num_threads = threads;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    return summary;
  }
};
ceres::Problem::Options evaluated_by(ceres::EvaluationCallback& blocks) {
  ceres::Problem::Options options;
  options.evaluation_callback = &blocks;
  return options;
}
/// A row of Ceres' matrix has 9 numbers of a camera and then 3 of a point.
struct evaluation {
  std::vector<double> residuals;
  ceres::CRSMatrix jacobian;

  evaluation(adjustment& at, ceres::Problem& problem) {
    ceres::Problem::EvaluateOptions in_order;
    for (std::size_t i = 0; i < at.camera.size(); i += 9) in_order.parameter_blocks.push_back(&at.camera[i]);
    for (std::size_t i = 0; i < at.point.size(); i += 3) in_order.parameter_blocks.push_back(&at.point[i]);
    REQUIRE(problem.Evaluate(in_order, nullptr, &residuals, nullptr, &jacobian));
  }
};
void same(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  bool all = true;
  for (std::size_t i = 0; i < found.size(); ++i) all &= std::fabs(found[i] - wanted[i]) <= 1e-10 * (1 + std::fabs(wanted[i]));
  CHECK(all);
}
const auto of_ceres = [](const double* seen) { return new ceres::AutoDiffCostFunction<projection_of_ceres, 2, 9, 3>(new projection_of_ceres{seen[0], seen[1]}); };

}  // namespace

TEST_CASE("residual_blocks: residuals and Jacobians are those of vmap(f) and vmap(jacobian(f))") {
  adjustment a;
  auto blocks = a.blocks();
  ceres::Problem problem(evaluated_by(blocks));
  CHECK(blocks.add_to(problem).size() == given.observations());
  CHECK(problem.NumResidualBlocks() == static_cast<int>(given.observations()));
  const evaluation found(a, problem);

  const auto [cameras, points] = a.tables();
  constexpr auto all = tn::compile([](auto c, auto p, auto i, auto j, auto seen) {
    const auto camera = tn::gather<0>(c, i);
    const auto point = tn::gather<0>(p, j);
    const auto [by_camera, by_point] = tn::vmap(tn::jacobian<0, 1>(projection))(camera, point, seen);
    return std::tuple{tn::vmap(projection)(camera, point, seen), by_camera, by_point};
  });
  const auto [r, by_camera, by_point] =
      all(cameras, points, tn::from(given.camera_of), tn::from(given.point_of), tn::from<tn::shape<tn::dyn, 2>>(given.seen.data(), blocks.size()));
  same(found.residuals, {r.data(), r.data() + r.size()});
  std::vector<double> of_both;
  for (std::int64_t i = 0; i < blocks.size(); ++i)
    for (int row = 0; row < 2; ++row) {
      for (int k = 0; k < 9; ++k) of_both.push_back(by_camera(i, row, k));
      for (int k = 0; k < 3; ++k) of_both.push_back(by_point(i, row, k));
    }
  same(found.jacobian.values, of_both);

  adjustment b;
  ceres::Problem beside;
  b.add(beside, of_ceres, nullptr);
  const evaluation of_autodiff(b, beside);
  same(found.residuals, of_autodiff.residuals);
  same(found.jacobian.values, of_autodiff.jacobian.values);
}

TEST_CASE("residual_blocks: Ceres takes the same steps, with a loss, constant blocks and threads") {
  adjustment a, b;
  auto blocks = a.blocks();
  ceres::Problem ours(evaluated_by(blocks)), theirs;
  blocks.add_to(ours, new ceres::HuberLoss(2));
  b.add(theirs, of_ceres, new ceres::HuberLoss(2));
  ours.SetParameterBlockConstant(a.camera.data());
  theirs.SetParameterBlockConstant(b.camera.data());
  const tn::thread_pool pool(2);
  const auto found = [&] {
    const auto threads = pool.scope();
    return a.solve(ours, 2);
  }();
  const auto wanted = b.solve(theirs);
  CHECK(found.termination_type == ceres::CONVERGENCE);
  CHECK(found.iterations.size() == wanted.iterations.size());
  CHECK(found.final_cost == Approx(wanted.final_cost).epsilon(1e-9));
  for (std::size_t i = 0; i < 9; ++i) CHECK(a.camera[i] == given.camera[i]);
  CHECK(a.camera[9] != given.camera[9]);
}

TEST_CASE("residual_blocks: with a cost function of another kind in one problem") {
  constexpr auto stay = [](auto camera, auto where) { return tn::slice<0, 3, 3>(camera) - where; };
  adjustment a, b;
  auto blocks = a.blocks();
  ceres::Problem ours(evaluated_by(blocks)), theirs;
  blocks.add_to(ours);
  b.add(theirs, [](const double* seen) { return tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, tn::from<tn::shape<2>>(seen)).release(); }, nullptr);
  for (const auto& [problem, camera] : {std::pair{&ours, a.camera.data()}, std::pair{&theirs, b.camera.data()}})
    problem->AddResidualBlock(tn::cost_function<tn::shape<9>>(stay, real<3>{0, 0, -6}).release(), nullptr, camera);
  CHECK(a.solve(ours).final_cost == Approx(b.solve(theirs).final_cost).epsilon(1e-9));
}

TEST_CASE("residual_blocks: an evaluation allocates nothing") {
#if TENURE_TEST_COUNTS_MALLOC
  adjustment a;
  auto blocks = a.blocks();
  ceres::Problem problem(evaluated_by(blocks));
  const auto id = blocks.add_to(problem).front();
  const ceres::CostFunction* const cost = problem.GetCostFunctionForResidualBlock(id);
  double r[2], by_camera[18], by_point[6];
  double* both[] = {by_camera, by_point};
  for (const bool jacobians : {true, false})
    CHECK(counted([&] {
      blocks.PrepareForEvaluation(jacobians, true);
      cost->Evaluate(nullptr, r, jacobians ? both : nullptr);
    }) == 0);
#endif
}

TEST_CASE("residual_blocks: what was not prepared is refused") {
  adjustment a;
  auto blocks = a.blocks(), others = a.blocks();
  const auto forgets = Catch::Matchers::Contains("tenure: residual_blocks: the problem does not prepare the blocks: ceres::Problem::Options options; options.evaluation_callback = &blocks");
  ceres::Problem forgotten, of_others(evaluated_by(others));
  for (ceres::Problem* const p : {&forgotten, &of_others}) {
    CHECK_THROWS_WITH(blocks.add_to(*p), forgets);
    CHECK(p->NumResidualBlocks() == 0);
    CHECK(p->NumParameterBlocks() == 0);
  }
  struct both_of : ceres::EvaluationCallback {
    decltype(blocks) &first, &second;
    both_of(decltype(blocks)& a, decltype(blocks)& b) : first(a), second(b) {}
    void PrepareForEvaluation(bool jacobians, bool is_new) override {
      first.PrepareForEvaluation(jacobians, is_new);
      second.PrepareForEvaluation(jacobians, is_new);
    }
  } callback(blocks, others);
  ceres::Problem of_both(evaluated_by(callback));
  CHECK(blocks.add_to(of_both).size() == others.add_to(of_both).size());
  double cost = 0;
  CHECK(of_both.Evaluate({}, &cost, nullptr, nullptr, nullptr));

  ceres::Problem problem(evaluated_by(blocks));
  const auto id = blocks.add_to(problem).front();
  CHECK(problem.NumParameters() == static_cast<int>(a.camera.size() + a.point.size()));
  const ceres::CostFunction* const first = problem.GetCostFunctionForResidualBlock(id);
  double r[2], by_point[6], again[6];
  double *jacobians[] = {nullptr, by_point}, *jacobians_again[] = {nullptr, again};
  blocks.PrepareForEvaluation(false, true);
  CHECK(first->Evaluate(nullptr, r, nullptr));
  CHECK(!first->Evaluate(nullptr, r, jacobians));
  blocks.PrepareForEvaluation(true, false);
  CHECK(first->Evaluate(nullptr, r, jacobians));

  a.point[static_cast<std::size_t>(3 * given.point_of[0])] += 1;  // the same point, says Ceres, so nothing is computed
  blocks.PrepareForEvaluation(true, false);
  CHECK(first->Evaluate(nullptr, r, jacobians_again));
  CHECK(std::equal(by_point, by_point + 6, again));
  blocks.PrepareForEvaluation(true, true);
  CHECK(first->Evaluate(nullptr, r, jacobians_again));
  CHECK(!std::equal(by_point, by_point + 6, again));
}

TEST_CASE("residual_blocks: data of any kind; indices, strides and the lives of tensors are checked") {
  constexpr auto f = [](auto row, auto both) {
    const auto& [x, y] = both;
    return sum(row * x) - y;
  };
  using index_type = tn::tensor<std::int64_t, tn::shape<tn::dyn>>;
  tn::tensor<double, tn::shape<4, 3>> table{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  const auto made = [&](std::int64_t last) {
    return tn::residual_blocks(f, tn::rows(table, index_type{0, last}), std::tuple{tn::tensor<double, tn::shape<tn::dyn, 3>>{{1, 1, 1}, {1, 0, 1}}, tn::tensor<double, tn::shape<tn::dyn>>{6, 0}});
  };
  auto blocks = made(3);  // the tensors of the call are gone
  ceres::Problem problem(evaluated_by(blocks));
  blocks.add_to(problem);
  std::vector<double> residuals;
  REQUIRE(problem.Evaluate({}, nullptr, &residuals, nullptr, nullptr));
  same(residuals, {0, 22});
  CHECK_THROWS_AS(made(4), tn::index_error);
  const auto of_sizes = [&](std::int64_t second, std::int64_t data) {
    return tn::residual_blocks([](auto a, auto b, auto y) { return sum(a * b) - y; }, tn::rows(table, index_type{0, 1}), tn::rows(table, index_type(second)),
                               tn::tensor<double, tn::shape<tn::dyn>>(data));
  };
  CHECK(of_sizes(2, 2).size() == 2);
  CHECK_THROWS_WITH(of_sizes(3, 2), "tenure: residual_blocks: index 1 has 3 blocks, and index 0 has 2");
  CHECK_THROWS_WITH(of_sizes(2, 4), "tenure: residual_blocks: argument 0 of the data has 4 blocks, and index 0 has 2");
  CHECK_THROWS_AS(of_sizes(2, 4), tn::shape_error);

  auto turned = tn::tensor<double, tn::shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}}.transpose();
  CHECK_THROWS_AS(tn::residual_blocks([](auto row) { return row; }, tn::rows(turned, index_type{0, 1})), tn::ownership_error);
}
