// SPDX-License-Identifier: BSL-1.0
// A double pendulum fitted to noisy observations of its angles: 600 steps by scan, a Jacobian through the loop, and a damped Gauss-Newton
// method. Writes the fit to double_pendulum.svg.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

#include "support/plot.hpp"

namespace tn = tenure;

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// ---- the model --------------------------------------------------------------------------------------------------------

constexpr double step = 0.01, gravity = 9.81;  // s, m/s^2
constexpr int steps = 600;

// The state is (angle 1, angle 2, speed 1, speed 2), in rad and rad/s. p is (mass 2 / mass 1, length 1, length 2, friction), lengths in m.
constexpr auto slopes = [](const auto& state, const auto& p) {
  const auto &a = state[0], &b = state[1], &u = state[2], &v = state[3];
  const auto d = b - a, s = sin(d), c = cos(d), mass = 1.0 + p(0);
  const auto share = mass - p(0) * c * c;
  const auto first = (p(0) * c * (p(1) * u * u * s + gravity * sin(b)) + p(0) * p(2) * v * v * s - mass * gravity * sin(a)) / (p(1) * share);
  const auto second = (mass * (gravity * (sin(a) * c - sin(b)) - p(1) * u * u * s) - p(0) * p(2) * v * v * s * c) / (p(2) * share);
  return std::array{u, v, first - p(3) * u, second - p(3) * v};
};
constexpr auto moved = [](auto state, double by, const auto& slope) {
  for (std::size_t i = 0; i < 4; ++i) state[i] = state[i] + by * slope[i];
  return state;
};
constexpr auto runge_kutta = [](const auto& state, const auto& p) {
  const auto k1 = slopes(state, p), k2 = slopes(moved(state, step / 2, k1), p), k3 = slopes(moved(state, step / 2, k2), p), k4 = slopes(moved(state, step, k3), p);
  auto next = state;
  for (std::size_t i = 0; i < 4; ++i) next[i] = state[i] + step / 6 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  return next;
};

// The errors of both angles before each step: [steps, 2]. Each iteration takes one row of `seen`.
constexpr auto errors = [](auto p, auto seen) {
  const auto iteration = [=](auto state, auto row) { return std::tuple{runge_kutta(state, p), stack(state[0], state[1]) - row}; };
  return std::get<1>(tn::scan(iteration, std::array{1.2, 0.4, 0.0, 0.0}, seen));
};

// ---- the fit ----------------------------------------------------------------------------------------------------------

// The mean square of the errors, and a step of Levenberg and Marquardt. jacobian takes forward mode: 4 parameters, 1200 errors.
constexpr auto improve = tn::compile([](auto p, auto seen, auto damping) {
  const auto all = [=](auto q) { return tn::reshape<2 * steps>(errors(q, seen)); };
  const auto e = all(p);
  const auto j = tn::jacobian(all)(p);
  const auto jt = transpose(j);
  const auto normal = matmul(jt, j);
  return std::tuple{mean(square(e)), p - solve(normal + damping * diag(diagonal(normal)), matmul(jt, e))};
});

int main() {
  const array<4> truth{0.6, 1.0, 0.8, 0.12};
  const array<steps, 2> none = tn::zeros<double>(tn::shape<steps, 2>{});
  const auto simulate = tn::compile(errors);
  tn::engine random(11);
  const array<steps, 2> seen = simulate(truth, none) + 0.02 * tn::normal<double>(tn::shape<steps, 2>{}, random);

  array<4> p{1.0, 1.2, 1.0, 0.0};
  const array<steps, 2> start = simulate(p, none);
  const auto print = [](const char* what, const array<4>& q) { std::printf("%s mass ratio %.4f, lengths %.4f m and %.4f m, friction %.4f\n", what, q(0), q(1), q(2), q(3)); };
  print("start:", p);
  auto [error, next] = improve(p, seen, 0.01);
  double damping = 0.01;
  for (int i = 0; i < 12; ++i) {
    auto [after, then] = improve(next, seen, damping);
    const bool is_better = after.item() < error.item();
    if (is_better) p.copy_(next), error.copy_(after), next.copy_(then);
    damping = is_better ? damping / 10 : damping * 10;
    if (!is_better) next.copy_(std::get<1>(improve(p, seen, damping)));
    if (i % 3 == 2) std::printf("  mean square %.6f\n", error.item());
  }
  print("fit:  ", p);
  print("truth:", truth);

  const array<steps, 2> fitted = simulate(p, none);
  const auto column = [](const array<steps, 2>& x, int k) {
    std::vector<double> values;
    for (int i = 0; i < steps; i += 5) values.push_back(x(i, k));
    return values;
  };
  examples::plot picture{.title = "A double pendulum, fitted to noisy observations", .x_label = "time in 1/20 s", .panels = {}};
  for (int k = 0; k < 2; ++k)
    picture.panels.push_back({k == 0 ? "angle 1" : "angle 2", {{"observed", column(seen, k)}, {"start", column(start, k)}, {"fit", column(fitted, k)}}});
  examples::write_svg("double_pendulum.svg", picture);

  double worst = 0;
  for (int i = 0; i < 4; ++i) worst = std::max(worst, std::abs(p(i) - truth(i)));
  return worst < 0.02 ? 0 : 1;
}
