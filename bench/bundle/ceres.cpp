// SPDX-License-Identifier: BSL-1.0
// The rows of Ceres: AutoDiffCostFunction, one thread, and the dense Schur complement, which is the fastest of its solvers for 50 cameras.
#include <ceres/ceres.h>

#include <benchmark/benchmark.h>

#include "../ceres/functors.hpp"
#include "problem.hpp"

namespace {

using namespace bench::bundle;

using error_of = bench::ceres_functors::projection_error;

struct whole {
  std::vector<double> camera = given().camera, point = given().point;
  ceres::Problem problem;

  whole() {
    for (std::size_t i = 0; i < given().observations(); ++i)
      problem.AddResidualBlock(new ceres::AutoDiffCostFunction<error_of, 2, 9, 3>(new error_of{given().seen[2 * i], given().seen[2 * i + 1]}), nullptr,
                               &camera[static_cast<std::size_t>(9 * given().camera_of[i])], &point[static_cast<std::size_t>(3 * given().point_of[i])]);
  }
};

void jacobian(benchmark::State& state) {
  whole w;
  ceres::CRSMatrix found;
  double cost = 0;
  for (auto _ : state) w.problem.Evaluate({}, &cost, nullptr, nullptr, &found);
}
void solution(benchmark::State& state) {
  whole w;
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_SCHUR;
  options.logging_type = ceres::SILENT;
  for (auto _ : state) {
    state.PauseTiming();
    w.camera = given().camera, w.point = given().point;
    state.ResumeTiming();
    ceres::Solver::Summary summary;
    ceres::Solve(options, &w.problem, &summary);
    state.counters["cost"] = summary.final_cost;
  }
}
BENCHMARK(jacobian)->Name("bundle_jacobian/ceres/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(solution)->Name("bundle_solution/ceres/30000")->Unit(benchmark::kMillisecond);

}  // namespace
