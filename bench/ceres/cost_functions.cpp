// SPDX-License-Identifier: BSL-1.0
// Residuals of Tenure in Ceres, beside AutoDiffCostFunction: residuals and Jacobians of one block of a bundle adjustment (2 residuals, 9 + 3 parameters) and of one
// edge of a graph of poses (6 residuals, 7 + 7 parameters), all blocks of a bundle adjustment, and its solution by the same solver with the same options, one
// thread.
#include <tenure/interop/ceres.hpp>
#include <tenure/tenure.hpp>

#include <ceres/ceres.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bundle/problem.hpp"
#include "ceres/functors.hpp"

namespace {

namespace tn = tenure;
using namespace bench::ceres_functors;
using bench::bundle::given;
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

constexpr auto projection = [](auto camera, auto point, auto seen) {
  const auto place = quat_rotate(tn::quat_exp(tn::slice<0, 0, 3>(camera)), point) + tn::slice<0, 3, 3>(camera);
  const auto p = -tn::slice<0, 0, 2>(place) / place[2];
  const auto r = sum(p * p);
  return camera[6] * (1.0 + r * (camera[7] + camera[8] * r)) * p - seen;
};
constexpr auto edge = [](auto a, auto b, auto measured) {
  const auto conjugate = [](auto q) { return tn::stack(q(0), -q(1), -q(2), -q(3)); };
  const auto turn_of = [](auto pose) { return tn::slice<0, 0, 4>(pose); };
  const auto place_of = [](auto pose) { return tn::slice<0, 4, 3>(pose); };
  const auto back = conjugate(turn_of(a)), apart = quat_mul(turn_of(measured), conjugate(quat_mul(back, turn_of(b))));
  return tn::concat<0>(40.0 * tn::slice<0, 1, 3>(apart), 10.0 * (quat_rotate(back, place_of(b) - place_of(a)) - place_of(measured)));
};

[[noreturn]] void disagree(const char* what, double found, double wanted) {
  std::fprintf(stderr, "%s: %.17g and not %.17g\n", what, found, wanted);
  std::exit(1);
}

/// A cost function of two blocks, and the memory that it writes.
struct block {
  std::unique_ptr<ceres::CostFunction> cost;
  std::vector<double> a, b, residuals, by_a, by_b;

  block(std::unique_ptr<ceres::CostFunction> f, std::vector<double> of_a, std::vector<double> of_b) : cost(std::move(f)), a(std::move(of_a)), b(std::move(of_b)) {
    residuals.resize(static_cast<std::size_t>(cost->num_residuals()));
    by_a.resize(residuals.size() * a.size()), by_b.resize(residuals.size() * b.size());
  }
  void evaluate(bool jacobians) {
    const double* const parameters[] = {a.data(), b.data()};
    double* both[] = {by_a.data(), by_b.data()};
    cost->Evaluate(parameters, residuals.data(), jacobians ? both : nullptr);
  }
};
void require_same(block x, block y) {
  x.evaluate(true), y.evaluate(true);
  const auto same = [](const std::vector<double>& found, const std::vector<double>& wanted) {
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!(std::fabs(found[i] - wanted[i]) <= 1e-9 * (1 + std::fabs(wanted[i])))) disagree("a residual or a slope", found[i], wanted[i]);
  };
  same(x.residuals, y.residuals), same(x.by_a, y.by_a), same(x.by_b, y.by_b);
}

const std::vector<double> camera{0.1, -0.2, 0.3, 0.5, -0.4, 6, 500, 0.01, -0.002}, point{0.3, -0.7, 1.1};
const std::vector<double> pose_a{0.8, 0.1, 0.5, -0.3, 1, 2, 3}, pose_b{0.7, -0.1, 0.4, -0.6, 1.5, 2.2, 3.1};
block our_projection() { return {tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, real<2>{40, -30}), camera, point}; }
block their_projection() { return {std::make_unique<ceres::AutoDiffCostFunction<projection_error, 2, 9, 3>>(new projection_error{40, -30}), camera, point}; }
block our_edge() { return {tn::cost_function<tn::shape<7>, tn::shape<7>>(edge, real<7>{0.9, 0.1, 0.2, -0.3, 0.4, 0.5, 0.6}), pose_a, pose_b}; }
block their_edge() { return {std::make_unique<ceres::AutoDiffCostFunction<edge_error, 6, 7, 7>>(new edge_error{{0.9, 0.1, 0.2, -0.3}, {0.4, 0.5, 0.6}}), pose_a, pose_b}; }

void one_block(const char* name, block (*make)(), bool jacobians) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    block x = make();
    for (auto _ : state) {
      x.evaluate(jacobians);
      benchmark::ClobberMemory();
    }
  });
}

/// The bundle adjustment of bench/bundle in arrays, as a program that uses Ceres has it.
struct adjustment {
  std::vector<double> cameras = given().camera, points = given().point;
  std::unique_ptr<ceres::Problem> problem = std::make_unique<ceres::Problem>();

  double* camera_of(std::size_t i) { return &cameras[static_cast<std::size_t>(9 * given().camera_of[i])]; }
  double* point_of(std::size_t i) { return &points[static_cast<std::size_t>(3 * given().point_of[i])]; }
  template <class Cost>
  void add(Cost cost) {
    for (std::size_t i = 0; i < given().observations(); ++i) problem->AddResidualBlock(cost(&given().seen[2 * i]), nullptr, camera_of(i), point_of(i));
  }
  void begin() {
    std::copy(given().camera.begin(), given().camera.end(), cameras.begin());
    std::copy(given().point.begin(), given().point.end(), points.begin());
  }
};
struct with_autodiff : adjustment {
  with_autodiff() {
    add([](const double* seen) { return new ceres::AutoDiffCostFunction<projection_error, 2, 9, 3>(new projection_error{seen[0], seen[1]}); });
  }
  void prepare() {}
};
struct one_by_one : adjustment {
  one_by_one() {
    add([](const double* seen) { return tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, tn::from<tn::shape<2>>(seen)).release(); });
  }
  void prepare() {}
};
struct in_one_call : adjustment {
  decltype(tn::from<tn::shape<tn::dyn, 9>>(cameras.data(), 1)) all_cameras = tn::from<tn::shape<tn::dyn, 9>>(cameras.data(), given().cameras);
  decltype(tn::from<tn::shape<tn::dyn, 3>>(points.data(), 1)) all_points = tn::from<tn::shape<tn::dyn, 3>>(points.data(), given().points);
  decltype(tn::residual_blocks(projection, tn::rows(all_cameras, tn::from(given().camera_of)), tn::rows(all_points, tn::from(given().point_of)),
                               tn::from<tn::shape<tn::dyn, 2>>(given().seen.data(), 1)))
      blocks = tn::residual_blocks(projection, tn::rows(all_cameras, tn::from(given().camera_of)), tn::rows(all_points, tn::from(given().point_of)),
                                   tn::from<tn::shape<tn::dyn, 2>>(given().seen.data(), static_cast<std::int64_t>(given().observations())));
  in_one_call() {
    ceres::Problem::Options options;
    options.evaluation_callback = &blocks;
    problem = std::make_unique<ceres::Problem>(options);
    blocks.add_to(*problem);
  }
  ~in_one_call() { problem.reset(); }
  void prepare() { blocks.PrepareForEvaluation(true, true); }
};

/// The whole solution.
template <class Way>
void solution(benchmark::State& state) {
  Way a;
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_SCHUR;
  options.logging_type = ceres::SILENT;
  for (auto _ : state) {
    state.PauseTiming();
    a.begin();
    state.ResumeTiming();
    ceres::Solver::Summary summary;
    ceres::Solve(options, a.problem.get(), &summary);
    state.counters["cost"] = summary.final_cost;
    state.counters["jacobian ms"] = 1e3 * summary.jacobian_evaluation_time_in_seconds / summary.num_jacobian_evaluations;
    static const double first = summary.final_cost;
    if (!(std::fabs(summary.final_cost - first) <= 1e-6 * first)) disagree("the cost", summary.final_cost, first);
  }
}
/// What Ceres asks of all cost functions in an evaluation with Jacobians, without what it does itself.
template <class Way>
void evaluation(benchmark::State& state) {
  Way a;
  std::vector<ceres::ResidualBlockId> ids;
  a.problem->GetResidualBlocks(&ids);
  std::vector<const ceres::CostFunction*> costs;
  for (const auto id : ids) costs.push_back(a.problem->GetCostFunctionForResidualBlock(id));
  std::vector<double> found(26 * ids.size());
  for (auto _ : state) {
    a.prepare();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double* const parameters[] = {a.camera_of(i), a.point_of(i)};
      double *const to = &found[26 * i], *jacobians[] = {to + 2, to + 20};
      costs[i]->Evaluate(parameters, to, jacobians);
    }
    benchmark::ClobberMemory();
  }
}

const bool registered = [] {
  require_same(our_projection(), their_projection()), require_same(our_edge(), their_edge());
  one_block("ceres_projection/tenure/12", our_projection, true), one_block("ceres_projection/ceres/12", their_projection, true);
  one_block("ceres_projection_value/tenure/12", our_projection, false), one_block("ceres_projection_value/ceres/12", their_projection, false);
  one_block("ceres_edge/tenure/14", our_edge, true), one_block("ceres_edge/ceres/14", their_edge, true);
  one_block("ceres_edge_value/tenure/14", our_edge, false), one_block("ceres_edge_value/ceres/14", their_edge, false);
  return true;
}();
BENCHMARK(evaluation<one_by_one>)->Name("ceres_blocks/tenure/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(evaluation<in_one_call>)->Name("ceres_blocks/in_one_call/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(evaluation<with_autodiff>)->Name("ceres_blocks/ceres/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(solution<one_by_one>)->Name("ceres_bundle/tenure/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(solution<in_one_call>)->Name("ceres_bundle/in_one_call/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(solution<with_autodiff>)->Name("ceres_bundle/ceres/30000")->Unit(benchmark::kMillisecond);

}  // namespace
