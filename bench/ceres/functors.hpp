// SPDX-License-Identifier: BSL-1.0
// Residuals as functors for Ceres: where a camera sees a point, and an edge of a graph of poses (a quaternion and a place each).
#pragma once

#include <Eigen/Geometry>
#include <ceres/rotation.h>

namespace bench::ceres_functors {

struct projection_error {
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

struct edge_error {
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

}  // namespace bench::ceres_functors
