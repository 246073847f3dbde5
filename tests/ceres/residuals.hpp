// SPDX-License-Identifier: BSL-1.0
// Residuals twice: as a function of Tenure, and as a functor for ceres::AutoDiffCostFunction, which shares no code with it.
#pragma once

#include <cmath>

#include <Eigen/Geometry>
#include <ceres/rotation.h>

#include <tenure/tenure.hpp>

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
struct projection_of_ceres {
  double x, y;

  template <class T>
  bool operator()(const T* camera, const T* point, T* residual) const {
    T p[3];
    ceres::AngleAxisRotatePoint(camera, point, p);
    for (int i = 0; i < 3; ++i) p[i] += camera[3 + i];
    const T u = -p[0] / p[2], v = -p[1] / p[2], r = u * u + v * v, scale = camera[6] * (1.0 + r * (camera[7] + camera[8] * r));
    residual[0] = scale * u - x, residual[1] = scale * v - y;
    return true;
  }
};

/// An edge of a graph of poses, a quaternion (w, x, y, z) and a place each.
constexpr auto edge = [](auto a, auto b, auto measured) {
  const auto conjugate = [](auto q) { return tn::stack(q(0), -q(1), -q(2), -q(3)); };
  const auto turn_of = [](auto pose) { return tn::slice<0, 0, 4>(pose); };
  const auto place_of = [](auto pose) { return tn::slice<0, 4, 3>(pose); };
  const auto back = conjugate(turn_of(a)), apart = quat_mul(turn_of(measured), conjugate(quat_mul(back, turn_of(b))));
  return tn::concat<0>(40.0 * tn::slice<0, 1, 3>(apart), 10.0 * (quat_rotate(back, place_of(b) - place_of(a)) - place_of(measured)));
};
struct edge_of_ceres {
  Eigen::Quaterniond turn;
  Eigen::Vector3d place;

  template <class T>
  bool operator()(const T* a, const T* b, T* to) const {
    using vector = Eigen::Matrix<T, 3, 1>;
    const Eigen::Quaternion<T> qa(a[0], a[1], a[2], a[3]), qb(b[0], b[1], b[2], b[3]);
    const Eigen::Map<const vector> pa(a + 4), pb(b + 4);
    const Eigen::Quaternion<T> back = qa.conjugate(), moved = back * qb, apart = turn.template cast<T>() * moved.conjugate();
    Eigen::Map<Eigen::Matrix<T, 6, 1>> residuals(to);
    residuals.template head<3>() = T(40) * apart.vec();
    residuals.template tail<3>() = T(10) * (back * (pb - pa) - place.template cast<T>());
    return true;
  }
};

}  // namespace residuals
