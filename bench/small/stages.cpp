// SPDX-License-Identifier: BSL-1.0
// The stages of a controller of a vehicle (iterative LQR): place, heading and speed, and two inputs. Each stage has the gradient and the matrix of Gauss and
// Newton of its cost, and the Jacobian of its step; 20 of them by scan. By hand it is Eigen with fixed sizes, and derivatives that a person wrote.
#include "small.hpp"

#include <cmath>

namespace {

using namespace bench::small;

constexpr std::int64_t stages = 20;
constexpr double dt = 0.1;

constexpr auto residual = [](auto z, auto target) {
  const auto dx = z(0) - target(0), dy = z(1) - target(1), c = cos(z(2)), s = sin(z(2));
  return tn::stack(c * dx + s * dy, 2.0 * (c * dy - s * dx), 0.5 * (z(3) - target(2)), 0.3 * z(4), 0.2 * z(5), 1.0 / (1.0 + dx * dx + dy * dy));
};
constexpr auto move = [](auto z) { return tn::stack(z(0) + dt * z(3) * cos(z(2)), z(1) + dt * z(3) * sin(z(2)), z(2) + dt * z(5), z(3) + dt * z(4)); };
constexpr auto stage_of = [](auto x, auto u, auto target) {
  const auto z = tn::concat<0>(x, u);
  const auto r = residual(z, target);
  const auto j = tn::jacobian<0>(residual)(z, target);
  return std::tuple{matmul(transpose(j), r), matmul(transpose(j), j), tn::jacobian(move)(z)};
};
constexpr auto all_of = tn::compile([](auto xs, auto us, auto targets) {
  const auto each = [](auto none, auto row) {
    const auto [x, u, target] = row;
    return std::tuple{none, stage_of(x, u, target)};
  };
  return std::get<1>(tn::scan(each, tn::zeros_like(xs(0, 0)), std::tuple{xs, us, targets}));
});
constexpr auto one_of = tn::compile(stage_of);

struct by_hand {
  vector<6> g;
  matrix<6, 6> h;
  matrix<4, 6> a;

  void quadratize(const double* x, const double* u, const double* target) {
    const double dx = x[0] - target[0], dy = x[1] - target[1], c = std::cos(x[2]), s = std::sin(x[2]), near = 1 / (1 + dx * dx + dy * dy);
    vector<6> r;
    r << c * dx + s * dy, 2 * (c * dy - s * dx), 0.5 * (x[3] - target[2]), 0.3 * u[0], 0.2 * u[1], near;
    matrix<6, 6> j = matrix<6, 6>::Zero();
    j(0, 0) = c, j(0, 1) = s, j(0, 2) = c * dy - s * dx;
    j(1, 0) = -2 * s, j(1, 1) = 2 * c, j(1, 2) = -2 * (s * dy + c * dx);
    j(2, 3) = 0.5, j(3, 4) = 0.3, j(4, 5) = 0.2;
    j(5, 0) = -2 * near * near * dx, j(5, 1) = -2 * near * near * dy;
    g = j.transpose() * r, h = j.transpose() * j;
    a.setZero(), a(0, 0) = a(1, 1) = a(2, 2) = a(3, 3) = 1;
    a(0, 2) = -dt * x[3] * s, a(0, 3) = dt * c, a(1, 2) = dt * x[3] * c, a(1, 3) = dt * s, a(2, 5) = dt, a(3, 4) = dt;
  }
};

struct controller {
  array<stages, 4> xs;
  array<stages, 2> us;
  array<stages, 3> targets;
  array<6> g;
  array<6, 6> h;
  array<4, 6> a;
  array<stages, 6> all_g;
  array<stages, 6, 6> all_h;
  array<stages, 4, 6> all_a;
  by_hand hand[stages];

  explicit controller(std::int64_t) {
    fill(7, xs, us, targets);
    step(), steps(), steps_by_hand();
    require_equal("stage", g, vector<6>(hand[3].g)), require_equal("stage", h, hand[3].h), require_equal("stage", a, hand[3].a);
    for (int i = 0; i < stages; ++i) {
      bench::require_agreement("stages", all_g.data() + 6 * i, hand[i].g.data(), 6, 1e-9);
      bench::require_agreement("stages", all_h.data() + 36 * i, hand[i].h.data(), 36, 1e-9);
      bench::require_agreement("stages", all_a.data() + 24 * i, hand[i].a.data(), 24, 1e-9);
    }
  }
  std::int64_t items() const { return 1; }
  [[gnu::noinline]] void step() { one_of.into(g, h, a)(xs[3], us[3], targets[3]); }
  void steps() { all_of.into(all_g, all_h, all_a)(xs, us, targets); }
  [[gnu::noinline]] void step_by_hand(int i) { hand[i].quadratize(xs.data() + 4 * i, us.data() + 2 * i, targets.data() + 3 * i); }
  void steps_by_hand() {
    for (int i = 0; i < stages; ++i) step_by_hand(i);
  }
};

const bool registered = [] {
  bench::row<controller>("stage", "tenure", 1, [](controller& p) { p.step(); });
  bench::row<controller>("stage", "hand", 1, [](controller& p) { p.step_by_hand(3); });
  bench::row<controller>("stages", "tenure", stages, [](controller& p) { p.steps(); });
  bench::row<controller>("stages", "hand", stages, [](controller& p) { p.steps_by_hand(); });
  return true;
}();

}  // namespace
