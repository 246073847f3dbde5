// SPDX-License-Identifier: BSL-1.0
// A bundle adjustment as in the files of "Bundle Adjustment in the Large": 50 cameras around a cloud of 5,000 points, each seen six times; half a pixel of
// noise, and a first guess beside it.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

namespace bench::bundle {

struct problem {
  int cameras = 0, points = 0;
  std::vector<int> camera_of, point_of;
  std::vector<double> seen, camera, point;  // two, nine and three numbers each

  std::size_t observations() const { return camera_of.size(); }
};

/// Where a camera (an angle times an axis, a translation, a focal length, two coefficients of the lens) sees a point.
inline void project(const double* c, const double* point, double* pixel) {
  const double angle = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), axis[3] = {c[0] / angle, c[1] / angle, c[2] / angle};
  const double along = (axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]) * (1 - std::cos(angle));
  double p[3];
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    p[i] = point[i] * std::cos(angle) + (axis[j] * point[k] - axis[k] * point[j]) * std::sin(angle) + axis[i] * along + c[3 + i];
  }
  const double x = -p[0] / p[2], y = -p[1] / p[2], r = x * x + y * y, scale = c[6] * (1 + r * (c[7] + c[8] * r));
  pixel[0] = scale * x, pixel[1] = scale * y;
}

inline problem make_problem(int cameras, int points, int views) {
  std::mt19937 engine(1);
  std::normal_distribution<double> noise;
  problem b{cameras, points, {}, {}, {}, std::vector<double>(static_cast<std::size_t>(9 * cameras)), std::vector<double>(static_cast<std::size_t>(3 * points))};
  for (int c = 0; c < cameras; ++c) {
    const double angle = 2 * std::numbers::pi * (c + 0.5) / cameras - std::numbers::pi;
    const double values[9] = {0.02 * noise(engine), angle, 0.02 * noise(engine), 0.1 * noise(engine), 0.1 * noise(engine), -6 + 0.2 * noise(engine), 500 + 10 * noise(engine), -0.02, 0.001};
    for (int i = 0; i < 9; ++i) b.camera[static_cast<std::size_t>(9 * c + i)] = values[i];
  }
  for (double& x : b.point) x = noise(engine);
  for (int p = 0; p < points; ++p) {
    const int first = static_cast<int>(engine() % static_cast<unsigned>(cameras));
    for (int v = 0; v < views; ++v) {
      b.camera_of.push_back((first + v) % cameras);
      b.point_of.push_back(p);
      double pixel[2];
      project(&b.camera[static_cast<std::size_t>(9 * b.camera_of.back())], &b.point[static_cast<std::size_t>(3 * p)], pixel);
      for (const double x : pixel) b.seen.push_back(x + 0.5 * noise(engine));
    }
  }
  const double spread[9] = {0.01, 0.01, 0.01, 0.05, 0.05, 0.05, 5, 0, 0};
  for (std::size_t i = 0; i < b.camera.size(); ++i) b.camera[i] += spread[i % 9] * noise(engine);
  for (double& x : b.point) x += 0.05 * noise(engine);
  return b;
}
inline const problem& given() {
  static const problem b = make_problem(50, 5000, 6);
  return b;
}

}  // namespace bench::bundle
