// SPDX-License-Identifier: BSL-1.0
// A pose graph in the way of the data set "sphere": a robot goes around a sphere in 50 circles of 50 poses, and measures the motion to the next pose and to the
// pose one circle above, with noise. The first guess follows the motions from pose to pose, so it drifts.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <vector>

namespace bench::poses {

using three = std::array<double, 3>;
using quaternion = std::array<double, 4>;  // (w, x, y, z)

inline quaternion product(const quaternion& a, const quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}
inline quaternion conjugate(const quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }
inline three rotated(const quaternion& q, const three& v) {
  const quaternion r = product(product(q, {0, v[0], v[1], v[2]}), conjugate(q));
  return {r[1], r[2], r[3]};
}
inline quaternion rotation(const three& v) {
  const double angle = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), part = angle < 1e-12 ? 0.5 : std::sin(angle / 2) / angle;
  return {std::cos(angle / 2), part * v[0], part * v[1], part * v[2]};
}
/// Of an angle up to pi.
inline three vector_of(const quaternion& q) {
  const double size = std::sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), sign = q[0] < 0 ? -1 : 1;
  const double factor = size < 1e-12 ? 2 : sign * 2 * std::atan2(size, std::fabs(q[0])) / size;
  return {factor * q[1], factor * q[2], factor * q[3]};
}

struct pose {
  quaternion turn;
  three place;
};
/// The motion from a to b, seen from a.
inline pose motion(const pose& a, const pose& b) {
  return {product(conjugate(a.turn), b.turn), rotated(conjugate(a.turn), {b.place[0] - a.place[0], b.place[1] - a.place[1], b.place[2] - a.place[2]})};
}
inline pose moved(const pose& a, const pose& by) {
  const three step = rotated(a.turn, by.place);
  return {product(a.turn, by.turn), {a.place[0] + step[0], a.place[1] + step[1], a.place[2] + step[2]}};
}

inline constexpr double turn_noise = 0.01, place_noise = 0.05;  // radians, and the unit of the radius, which is 20
inline constexpr double turn_weight = 1 / turn_noise, place_weight = 1 / place_noise;

struct problem {
  std::vector<pose> guess;
  std::vector<int> from, to;
  std::vector<pose> seen;

  explicit problem(int circles = 50, int around = 50) {
    std::mt19937 engine(1);
    std::normal_distribution<double> normal;
    std::vector<pose> truth;
    for (int i = 0; i < circles; ++i)
      for (int j = 0; j < around; ++j) {
        const double height = std::numbers::pi * (i + (j + 0.5) / around) / circles, angle = 2 * std::numbers::pi * j / around;
        // The robot looks along its circle, and its head is away from the centre.
        const quaternion turn = product(rotation({0, 0, angle}), rotation({0, height, 0}));
        truth.push_back({turn, rotated(turn, {0, 0, 20})});
      }
    const int count = circles * around;
    const auto measure = [&](int a, int b) {
      const pose noise{rotation({turn_noise * normal(engine), turn_noise * normal(engine), turn_noise * normal(engine)}),
                       {place_noise * normal(engine), place_noise * normal(engine), place_noise * normal(engine)}};
      from.push_back(a), to.push_back(b);
      pose m = motion(truth[static_cast<std::size_t>(a)], truth[static_cast<std::size_t>(b)]);
      m.turn = product(m.turn, noise.turn);
      for (std::size_t k = 0; k < 3; ++k) m.place[k] += noise.place[k];
      seen.push_back(m);
    };
    for (int a = 0; a + 1 < count; ++a) measure(a, a + 1);
    guess.push_back(truth[0]);
    for (std::size_t a = 0; a + 1 < static_cast<std::size_t>(count); ++a) guess.push_back(moved(guess[a], seen[a]));
    for (int a = 0; a + around < count; ++a) measure(a, a + around);
  }
};
inline const problem& given() {
  static const problem p;
  return p;
}

/// All solutions are to have the same cost.
inline void require_cost(double cost) {
  static double first = cost;
  if (std::fabs(cost - first) <= 1e-4 * first) return;
  std::fprintf(stderr, "pose graph: a cost of %.9g, where another solution has %.9g\n", cost, first);
  std::exit(1);
}

}  // namespace bench::poses
