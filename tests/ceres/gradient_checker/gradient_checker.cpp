// SPDX-License-Identifier: BSL-1.0
// Ceres' own check of the derivatives of a cost function, by differences.
#include <vector>

#include <ceres/gradient_checker.h>

#include <tenure/interop/ceres.hpp>

#include "../residuals.hpp"

#undef CHECK  // glog, which Ceres includes, has one that aborts
#include "../../catch.hpp"

using namespace residuals;

namespace {
void check(const ceres::CostFunction& cost, const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<const ceres::Manifold*> manifolds{nullptr, nullptr};
  ceres::GradientChecker checker(&cost, &manifolds, {});
  const double* const parameters[] = {a.data(), b.data()};
  ceres::GradientChecker::ProbeResults found;
  CHECK(checker.Probe(parameters, 1e-8, &found));
  CHECK(found.maximum_relative_error < 1e-8);
}
}  // namespace

TEST_CASE("cost_function: GradientChecker finds no mistake") {
  check(*tn::cost_function<tn::shape<9>, tn::shape<3>>(projection, real<2>{40, -30}), {0.1, -0.2, 0.3, 0.5, -0.4, 6, 500, 0.01, -0.002}, {0.3, -0.7, 1.1});
  check(*tn::cost_function<tn::shape<7>, tn::shape<7>>(edge, real<7>{0.9, 0.1, 0.2, -0.3, 0.4, 0.5, 0.6}), {0.8, 0.1, 0.5, -0.3, 1, 2, 3}, {0.7, -0.1, 0.4, -0.6, 1.5, 2.2, 3.1});
}
