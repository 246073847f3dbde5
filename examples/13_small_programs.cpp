// SPDX-License-Identifier: BSL-1.0
// A small program: one step of a tracking filter, called for the rows of a batch, one call at a time.
#include <iostream>

#include <tenure/tenure.hpp>

namespace tn = tenure;

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// A Kalman filter that sees the position: x [position, speed], p its covariance, z the measured position, q and r the noise.
constexpr auto track = tn::compile([](auto x, auto p, auto z, auto q, auto r, auto dt) {
  const auto one = tn::ones_like(dt), zero = tn::zeros_like(dt);
  const auto move = tn::stack<0>(tn::stack<0>(one, dt), tn::stack<0>(zero, one));
  const auto before = matmul(move, x);
  const auto spread = matmul(matmul(move, p), transpose(move)) + q;
  const auto gain = spread.at(tn::all, 0) / (spread(0, 0) + r);
  return std::tuple{before + gain * (z - before(0)), spread - outer(gain, spread[0])};
});

// A row of a batch compiles the same program as an owning tensor.
using state = array<2>;
using covariance = array<2, 2>;
using track_plan = decltype(track.plan(state(), covariance(), double(), covariance(), double(), double()));
static_assert(track_plan::workspace_bytes() <= 1024);
static_assert(track_plan::kernels() <= 12);

int main() {
  constexpr std::int64_t targets = 100;
  array<targets, 2> x;
  array<targets, 2, 2> p;
  const covariance q{{1e-4, 0}, {0, 1e-3}};
  for (std::int64_t i = 0; i < targets; ++i) p[i] = covariance{{1, 0}, {0, 1}};

  // No call allocates: the results go where the arguments are.
  for (int t = 1; t <= 50; ++t)
    for (std::int64_t i = 0; i < targets; ++i) {
      const double measured = 0.1 * static_cast<double>(i) * t;
      track.into(x[i], p[i])(x[i], p[i], measured, q, 0.01, 1.0);
    }
  std::cout << "target 7: position " << x(7, 0) << ", speed " << x(7, 1) << '\n';
}
