// SPDX-License-Identifier: BSL-1.0
// Residuals of Tenure in Ceres Solver: a curve by one cost function for each observation, and a map by all residual blocks in one call. docs/ceres.md.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <ceres/ceres.h>

#include <tenure/interop/ceres.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// A curve y = exp(m x + c): mc is the parameter block, x and y are the data of one observation.
constexpr auto exponential = [](auto mc, auto x, auto y) { return y - exp(mc[0] * x + mc[1]); };

// How far a beacon is from a place, minus what was measured.
constexpr auto range_error = [](auto beacon, auto place, auto measured) { return norm(place - beacon) - measured; };

namespace {

double wave(int i) { return std::sin(12.9898 * i) * std::cos(4.1414 * i); }

ceres::Solver::Options quiet() {
  ceres::Solver::Options options;
  options.logging_type = ceres::SILENT;
  return options;
}

bool fit_curve() {
  std::vector<std::array<double, 2>> observations;
  for (int i = 0; i < 60; ++i) observations.push_back({i / 12.0, std::exp(0.3 * i / 12.0 + 0.1) + 0.2 * wave(i) + (i % 20 == 7 ? 5 : 0)});

  double mc[] = {0, 0};
  ceres::Problem problem;
  for (const auto& [x, y] : observations)
    problem.AddResidualBlock(tn::cost_function<tn::shape<2>>(exponential, x, y).release(), new ceres::CauchyLoss(0.5), mc);
  ceres::Solver::Summary summary;
  ceres::Solve(quiet(), &problem, &summary);
  std::printf("m = %.2f, c = %.2f\n", mc[0], mc[1]);
  return summary.termination_type == ceres::CONVERGENCE && std::fabs(mc[0] - 0.3) < 0.02;
}

bool make_map() {
  // Four beacons, of which two are known, and places from which the distances of all were measured.
  constexpr int places = 200;
  const std::array<double, 8> truth{0, 0, 10, 0, 10, 10, 2, 10};
  std::vector<double> beacon(truth.begin(), truth.end()), place, measured;
  std::vector<int> beacon_of, place_of;
  for (int i = 0; i < places; ++i) {
    const double x = 5 + 4 * wave(i), y = 5 + 4 * wave(i + 1000);
    for (int b = 0; b < 4; ++b) {
      beacon_of.push_back(b);
      place_of.push_back(i);
      measured.push_back(std::hypot(x - truth[static_cast<std::size_t>(2 * b)], y - truth[static_cast<std::size_t>(2 * b + 1)]) + 0.01 * wave(7 * i + b));
    }
    place.push_back(5);
    place.push_back(5 + 0.01 * i);
  }
  beacon[4] += 1;
  beacon[7] -= 2;

  // The parameters stay where they are: the tensors are views of the vectors.
  auto beacons = tn::from<tn::shape<tn::dyn, 2>>(beacon.data(), 4);
  auto all_places = tn::from<tn::shape<tn::dyn, 2>>(place.data(), places);
  auto blocks = tn::residual_blocks(range_error, tn::rows(beacons, tn::from(beacon_of)), tn::rows(all_places, tn::from(place_of)), tn::from(measured));

  ceres::Problem::Options in_one_call;
  in_one_call.evaluation_callback = &blocks;
  ceres::Problem problem(in_one_call);
  blocks.add_to(problem, new ceres::HuberLoss(0.1));
  problem.SetParameterBlockConstant(&beacon[0]);
  problem.SetParameterBlockConstant(&beacon[2]);
  ceres::Solver::Options options = quiet();
  options.linear_solver_type = ceres::DENSE_SCHUR;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  std::printf("beacons at (%.2f, %.2f), (%.2f, %.2f)\n", beacon[4], beacon[5], beacon[6], beacon[7]);
  return summary.termination_type == ceres::CONVERGENCE && std::fabs(beacon[7] - 10) < 0.02;
}

}  // namespace

int main() {
  const bool is_fitted = fit_curve(), is_mapped = make_map();
  return is_fitted && is_mapped ? 0 : 1;
}
