// SPDX-License-Identifier: BSL-1.0
// A step of an extended Kalman filter: six states, three measurements, float64. Its arguments are owning tensors; or the states of 64 filters are the rows of
// two arrays. By hand it is Eigen with fixed sizes, and Jacobians that a person wrote.
#include "kalman.hpp"
#include "small.hpp"

#include <cmath>

namespace {

using namespace bench::small;

constexpr auto update_of = tn::compile(kalman_filter::update);
constexpr auto updates_of = tn::compile(kalman_filter::run);
constexpr double dt = 0.01;

struct by_hand {
  vector<6> x;
  matrix<6, 6> p, q;
  matrix<3, 3> r;

  [[gnu::noinline]] void step(const vector<3>& z) {
    const double heading = x(2), speed = x(3), c = std::cos(heading), s = std::sin(heading);
    vector<6> before;
    before << x(0) + dt * speed * c, x(1) + dt * speed * s, heading + dt * x(4), speed + dt * x(5), x(4), x(5);
    matrix<6, 6> f = matrix<6, 6>::Identity();
    f(0, 2) = -dt * speed * s, f(0, 3) = dt * c, f(1, 2) = dt * speed * c, f(1, 3) = dt * s, f(2, 4) = dt, f(3, 5) = dt;
    const matrix<6, 6> spread = f * p * f.transpose() + q;
    const double distance = std::sqrt(before(0) * before(0) + before(1) * before(1)), square = distance * distance;
    matrix<3, 6> h = matrix<3, 6>::Zero();
    h(0, 0) = before(0) / distance, h(0, 1) = before(1) / distance, h(1, 0) = -before(1) / square, h(1, 1) = before(0) / square, h(2, 3) = 1;
    vector<3> missed;
    missed << z(0) - distance, z(1) - std::atan2(before(1), before(0)), z(2) - before(3);
    const matrix<3, 6> hp = h * spread;
    const matrix<3, 3> seen_spread = hp * h.transpose() + r;
    const matrix<3, 6> gain = seen_spread.partialPivLu().solve(hp);
    x = before + gain.transpose() * missed;
    p = spread - gain.transpose() * hp;
  }
};

constexpr std::int64_t filters = 64;

struct kalman {
  array<6> x, x_after;
  array<6, 6> p, p_after, q;
  array<3, 3> r;
  array<3> z;
  array<filters, 6> all_x;
  array<filters, 6, 6> all_p;
  array<filters, 3> zs;
  array<filters, 6> path;
  by_hand start, hand;
  vector<3> seen_by_hand;
  std::int64_t turn = 0;

  explicit kalman(std::int64_t) {
    for (int i = 0; i < 6; ++i) {
      x.at(i) = 0.5 + 0.1 * i;
      for (int j = 0; j < 6; ++j) p.at(i, j) = (i == j) + 0.01 * (i + j), q.at(i, j) = i == j ? 0.01 : 0;
    }
    for (int i = 0; i < 3; ++i) r.at(i, i) = 0.1, z.at(i) = 0.7;
    for (std::int64_t k = 0; k < filters; ++k) {
      zs[k] = z;
      restart(k);
    }
    start = {as<vector<6>>(x), as<matrix<6, 6>>(p), as<matrix<6, 6>>(q), as<matrix<3, 3>>(r)};
    seen_by_hand = as<vector<3>>(z);
    hand = start;
    hand.step(seen_by_hand);
    step();
    require_equal("kalman", x_after, hand.x), require_equal("kalman", p_after, hand.p);
    step_of_row();
    const array<6> row = all_x[turn - 1].clone();
    require_equal("kalman rows", row, hand.x);
    updates_of.into(path)(x, p, zs, q, r, dt);
    const array<6> first = path[0].clone();
    require_equal("kalman scan", first, hand.x);
  }
  std::int64_t items() const { return 1; }
  void restart(std::int64_t k) { all_x[k] = x, all_p[k] = p; }

  [[gnu::noinline]] void step() { update_of.into(x_after, p_after)(x, p, z, q, r, dt); }
  [[gnu::noinline]] void step_of_row() {
    const std::int64_t k = turn++ % filters;
    update_of.into(all_x[k], all_p[k])(all_x[k], all_p[k], zs[k], q, r, dt);
  }
  void step_by_hand() {
    hand.x = start.x, hand.p = start.p;
    hand.step(seen_by_hand);
  }
  void steps_by_hand() {
    hand.x = start.x, hand.p = start.p;
    for (std::int64_t k = 0; k < filters; ++k) hand.step(seen_by_hand);
  }
};

const bool registered = [] {
  bench::row<kalman>("kalman", "tenure", 6, [](kalman& p) { p.step(); });
  bench::row<kalman>("kalman", "hand", 6, [](kalman& p) { p.step_by_hand(); });
  bench::row<kalman>("kalman_rows", "tenure", 6, [](kalman& p) { p.step_of_row(); });
  bench::row<kalman>("kalman_rows", "hand", 6, [](kalman& p) { p.step_by_hand(); });
  bench::row<kalman>("kalman_scan", "tenure", filters, [](kalman& p) { updates_of.into(p.path)(p.x, p.p, p.zs, p.q, p.r, dt); });
  bench::row<kalman>("kalman_scan", "hand", filters, [](kalman& p) { p.steps_by_hand(); });
  return true;
}();

}  // namespace
