// SPDX-License-Identifier: BSL-1.0
// The model: the only file of the program that includes Tenure and is compiled with it.
#include "track.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

constexpr auto filter = tn::compile([](auto x, auto p, auto z, auto dt) {
  const auto one = tn::ones_like(dt), zero = tn::zeros_like(dt);
  const auto move = tn::stack<0>(tn::stack<0>(one, dt), tn::stack<0>(zero, one));
  const auto before = matmul(move, x);
  const auto spread = matmul(matmul(move, p), transpose(move)) + 1e-3;
  const auto gain = spread.at(tn::all, 0) / (spread(0, 0) + 0.01);
  return std::tuple{before + gain * (z - before(0)), spread - outer(gain, spread[0])};
});

}  // namespace

void update(track& t, double measured, double dt) {
  auto x = tn::from<tn::shape<2>>(t.state);
  auto p = tn::from<tn::shape<2, 2>>(t.covariance);
  filter.into(x, p)(x, p, measured, dt);
}
