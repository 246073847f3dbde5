// SPDX-License-Identifier: BSL-1.0
// A call of Mahony's filter of attitude: a quaternion and the bias of a gyroscope go in and come out, in the memory of the caller. By hand it is plain code.
#include "small.hpp"

#include <cmath>

namespace {

using namespace bench::small;

constexpr auto filter_of = tn::compile([](auto q, auto bias, auto turn, auto pull, auto dt) {
  const auto down = tn::stack(2.0 * (q(1) * q(3) - q(0) * q(2)), 2.0 * (q(0) * q(1) + q(2) * q(3)), q(0) * q(0) - q(1) * q(1) - q(2) * q(2) + q(3) * q(3));
  const auto error = cross(normalize(pull), down);
  const auto next = bias + 0.1 * dt * error;
  const auto w = turn + error + next;
  const auto slope = quat_mul(q, tn::concat<0>(tn::unsqueeze<0>(tn::zeros_like(dt)), w));
  return std::tuple{normalize(q + 0.5 * dt * slope), next};
});
constexpr double dt = 0.01;

struct by_hand {
  double q[4] = {0.9, 0.1, -0.2, 0.3}, bias[3] = {0.01, -0.02, 0.03};

  [[gnu::noinline]] void step(const double* turn, const double* pull) {
    const double over = 1 / std::sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]), ax = pull[0] * over, ay = pull[1] * over, az = pull[2] * over;
    const double vx = 2 * (q[1] * q[3] - q[0] * q[2]), vy = 2 * (q[0] * q[1] + q[2] * q[3]), vz = q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3];
    const double ex = ay * vz - az * vy, ey = az * vx - ax * vz, ez = ax * vy - ay * vx;
    bias[0] += 0.1 * dt * ex, bias[1] += 0.1 * dt * ey, bias[2] += 0.1 * dt * ez;
    const double wx = turn[0] + ex + bias[0], wy = turn[1] + ey + bias[1], wz = turn[2] + ez + bias[2], half = 0.5 * dt;
    const double a = q[0] - half * (q[1] * wx + q[2] * wy + q[3] * wz), b = q[1] + half * (q[0] * wx + q[2] * wz - q[3] * wy);
    const double c = q[2] + half * (q[0] * wy - q[1] * wz + q[3] * wx), d = q[3] + half * (q[0] * wz + q[1] * wy - q[2] * wx);
    const double size = 1 / std::sqrt(a * a + b * b + c * c + d * d);
    q[0] = a * size, q[1] = b * size, q[2] = c * size, q[3] = d * size;
  }
};

struct attitude {
  array<4> q{0.9, 0.1, -0.2, 0.3};
  array<3> bias{0.01, -0.02, 0.03}, turn{0.1, -0.2, 0.05}, pull{0.3, -0.5, 9.7};
  by_hand hand;

  explicit attitude(std::int64_t) {
    for (int i = 0; i < 50; ++i) step(), step_by_hand();
    bench::require_agreement("attitude", q.data(), hand.q, 4, 1e-9);
    bench::require_agreement("attitude", bias.data(), hand.bias, 3, 1e-9);
  }
  std::int64_t items() const { return 1; }
  [[gnu::noinline]] void step() { filter_of.into(q, bias)(q, bias, turn, pull, dt); }
  void step_by_hand() { hand.step(turn.data(), pull.data()); }
};

const bool registered = [] {
  bench::row<attitude>("attitude", "tenure", 4, [](attitude& p) { p.step(); });
  bench::row<attitude>("attitude", "hand", 4, [](attitude& p) { p.step_by_hand(); });
  return true;
}();

}  // namespace
