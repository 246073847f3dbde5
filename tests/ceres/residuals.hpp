// SPDX-License-Identifier: BSL-1.0
// Residuals twice: as a function of Tenure, and as a functor for ceres::AutoDiffCostFunction, which shares no code with it.
#pragma once

#include <cmath>

#include <tenure/tenure.hpp>

#include "bench/ceres/functors.hpp"

namespace residuals {

namespace tn = tenure;
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

/// Where a camera sees a point, minus where it was seen: a camera is a rotation vector, a translation, a focal length and two coefficients of the lens.
constexpr auto projection = [](auto camera, auto point, auto seen) {
  const auto place = matmul(tn::so3_exp(tn::slice<0, 0, 3>(camera)), point) + tn::slice<0, 3, 3>(camera);
  const auto p = -tn::slice<0, 0, 2>(place) / place[2];
  const auto r = sum(p * p);
  return camera[6] * (1.0 + r * (camera[7] + camera[8] * r)) * p - seen;
};
using projection_of_ceres = bench::ceres_functors::projection_error;

/// An edge of a graph of poses, a quaternion (w, x, y, z) and a place each.
constexpr auto edge = [](auto a, auto b, auto measured) {
  const auto conjugate = [](auto q) { return tn::stack(q(0), -q(1), -q(2), -q(3)); };
  const auto turn_of = [](auto pose) { return tn::slice<0, 0, 4>(pose); };
  const auto place_of = [](auto pose) { return tn::slice<0, 4, 3>(pose); };
  const auto back = conjugate(turn_of(a)), apart = quat_mul(turn_of(measured), conjugate(quat_mul(back, turn_of(b))));
  return tn::concat<0>(40.0 * tn::slice<0, 1, 3>(apart), 10.0 * (quat_rotate(back, place_of(b) - place_of(a)) - place_of(measured)));
};
using edge_of_ceres = bench::ceres_functors::edge_error;

}  // namespace residuals
