// SPDX-License-Identifier: BSL-1.0
// The functions of ba, also for bench/peers/gradbench_in_jax.py. A camera has a rotation vector, a center, a focal length, a principal point and two
// numbers for the distortion of its lens.
#pragma once

#include <tenure/tenure.hpp>

namespace gradbench::ba {

namespace tn = tenure;

/// The weighted error of one observation: two numbers.
inline constexpr auto error_of = [](auto camera, auto point, auto weight, auto seen) {
  const auto at = [=](int i) { return point.at(i) - camera.at(3 + i); };
  const auto cross = [](auto a, auto b, auto c, auto d) { return a * d - b * c; };
  const auto wx = camera.at(0), wy = camera.at(1), wz = camera.at(2), px = at(0), py = at(1), pz = at(2);
  const auto square = wx * wx + wy * wy + wz * wz;
  // Without a rotation s = 1 and c = 1/2, and the derivative is that of w x p.
  const auto turns = square > 0.0;
  const auto safe = where(turns, square, 1.0), angle = sqrt(safe);
  const auto s = where(turns, sin(angle) / angle, 1.0), c = where(turns, (1.0 - cos(angle)) / safe, 0.5);
  const auto ax = cross(wy, wz, py, pz), ay = cross(wz, wx, pz, px), az = cross(wx, wy, px, py);
  const auto bx = cross(wy, wz, ay, az), by = cross(wz, wx, az, ax), bz = cross(wx, wy, ax, ay);
  const auto x = px + s * ax + c * bx, y = py + s * ay + c * by, z = pz + s * az + c * bz;
  const auto u = x / z, v = y / z, r = u * u + v * v, d = 1.0 + r * (camera.at(9) + r * camera.at(10));
  const auto focal = camera.at(6) * d;
  return weight * (tn::stack(u * focal + camera.at(7), v * focal + camera.at(8)) - seen);
};
/// The error that keeps a weight close to 1.
inline constexpr auto weight_error = [](auto weight) { return 1.0 - weight * weight; };

inline constexpr auto errors_of = tn::compile([](auto cameras, auto points, auto weights, auto seen, auto camera, auto point) {
  return std::tuple{tn::vmap(error_of)(gather<0>(cameras, camera), gather<0>(points, point), weights, seen), weight_error(weights)};
});

/// The blocks of the Jacobian that are not zero: for each observation two rows of 11 + 3 + 1 numbers; and one number for each weight.
inline constexpr auto blocks_of = tn::compile([](auto cameras, auto points, auto weights, auto seen, auto camera, auto point) {
  const auto block = [](auto c, auto p, auto w, auto s) {
    const auto [by_camera, by_point, by_weight] = tn::jacobian<0, 1, 2>(error_of)(c, p, w, s);
    return tn::concat<1>(by_camera, by_point, tn::unsqueeze<1>(by_weight));
  };
  return std::tuple{tn::vmap(block)(gather<0>(cameras, camera), gather<0>(points, point), weights, seen), tn::vmap(tn::grad(weight_error))(weights)};
});

}  // namespace gradbench::ba
