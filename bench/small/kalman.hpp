// SPDX-License-Identifier: BSL-1.0
// An extended Kalman filter of six states and three measurements: a step, and its scan over measurements.
#pragma once

#include <tenure/tenure.hpp>

#include <tuple>

namespace kalman_filter {

namespace tn = tenure;

constexpr auto moved = [](auto x, auto dt) {
  const auto heading = x(2), speed = x(3);
  return tn::stack<0>(x(0) + dt * speed * cos(heading), x(1) + dt * speed * sin(heading), heading + dt * x(4), speed + dt * x(5), x(4), x(5));
};
constexpr auto seen = [](auto x) { return tn::stack<0>(sqrt(x(0) * x(0) + x(1) * x(1)), atan2(x(1), x(0)), x(3)); };
constexpr auto update = [](auto x, auto p, auto z, auto q, auto r, auto dt) {
  const auto f = tn::jacobian<0>(moved)(x, dt);
  const auto before = moved(x, dt);
  const auto spread = matmul(matmul(f, p), transpose(f)) + q;
  const auto h = tn::jacobian(seen)(before);
  const auto hp = matmul(h, spread);
  const auto gain = transpose(tn::solve(matmul(hp, transpose(h)) + r, hp));
  return std::tuple{before + matmul(gain, z - seen(before)), spread - matmul(gain, hp)};
};
constexpr auto run = [](auto x, auto p, auto zs, auto q, auto r, auto dt) {
  const auto iteration = [=](auto state, auto z) {
    const auto [x, p] = state;
    const auto [y, s] = update(x, p, z, q, r, dt);
    return std::tuple{std::tuple{y, s}, y};
  };
  return std::get<1>(tn::scan(iteration, std::tuple{x, p}, zs));
};

}  // namespace kalman_filter
