// SPDX-License-Identifier: BSL-1.0
// The rows of Ceres, as in its example pose_graph_3d: a quaternion with its manifold and a place, derivatives by AutoDiffCostFunction, the sparse Cholesky
// factorization of the normal equations, one thread, the first pose held.
#include "problem.hpp"

#include <Eigen/Geometry>
#include <ceres/ceres.h>

#include <benchmark/benchmark.h>

#include <deque>

namespace {

using namespace bench::poses;

struct error_of {
  Eigen::Quaterniond turn;
  Eigen::Vector3d place;

  template <class T>
  bool operator()(const T* turn_of_a, const T* place_of_a, const T* turn_of_b, const T* place_of_b, T* to) const {
    using vector = Eigen::Matrix<T, 3, 1>;
    const Eigen::Map<const Eigen::Quaternion<T>> qa(turn_of_a), qb(turn_of_b);
    const Eigen::Map<const vector> pa(place_of_a), pb(place_of_b);
    const Eigen::Quaternion<T> back = qa.conjugate(), moved = back * qb, apart = turn.template cast<T>() * moved.conjugate();
    Eigen::Map<Eigen::Matrix<T, 6, 1>> residuals(to);
    residuals.template head<3>() = T(2 * turn_weight) * apart.vec();
    residuals.template tail<3>() = T(place_weight) * (back * (pb - pa) - place.template cast<T>());
    return true;
  }
};

struct graph {
  struct pose_of_ceres {
    Eigen::Quaterniond turn;
    Eigen::Vector3d place;
  };
  std::deque<pose_of_ceres> poses;  // which stay where they are
  ceres::Problem problem;

  graph() {
    begin();
    for (std::size_t i = 0; i < given().seen.size(); ++i) {
      const pose& m = given().seen[i];
      pose_of_ceres &a = poses[static_cast<std::size_t>(given().from[i])], &b = poses[static_cast<std::size_t>(given().to[i])];
      auto* const cost = new error_of{{m.turn[0], m.turn[1], m.turn[2], m.turn[3]}, {m.place[0], m.place[1], m.place[2]}};
      problem.AddResidualBlock(new ceres::AutoDiffCostFunction<error_of, 6, 4, 3, 4, 3>(cost), nullptr, a.turn.coeffs().data(), a.place.data(), b.turn.coeffs().data(),
                               b.place.data());
    }
    for (pose_of_ceres& p : poses) problem.SetManifold(p.turn.coeffs().data(), new ceres::EigenQuaternionManifold);
    problem.SetParameterBlockConstant(poses[0].turn.coeffs().data());
    problem.SetParameterBlockConstant(poses[0].place.data());
  }
  void begin() {
    poses.resize(given().guess.size());
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const pose& p = given().guess[i];
      poses[i] = {{p.turn[0], p.turn[1], p.turn[2], p.turn[3]}, {p.place[0], p.place[1], p.place[2]}};
    }
  }
};

void solution(benchmark::State& state) {
  graph g;
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
  options.logging_type = ceres::SILENT;
  options.num_threads = 1;
  for (auto _ : state) {
    state.PauseTiming();
    g.begin();
    state.ResumeTiming();
    ceres::Solver::Summary summary;
    ceres::Solve(options, &g.problem, &summary);
    state.counters["cost"] = summary.final_cost;
    state.counters["steps"] = static_cast<double>(summary.iterations.size()) - 1;
    if (summary.termination_type != ceres::CONVERGENCE) state.SkipWithError("it did not converge");
    require_cost(summary.final_cost);
  }
}
BENCHMARK(solution)->Name("pose_graph/ceres/2500")->Unit(benchmark::kMillisecond);

}  // namespace
