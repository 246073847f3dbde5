// SPDX-License-Identifier: BSL-1.0
// Compiled once for each instruction set, with ENGINE as its namespace.
#include <tenure/tenure.hpp>

#include "engine.hpp"

namespace tn = tenure;

void ENGINE::layer(const float* x, const float* w, const float* b, float* y) {
  const auto in = tn::from<tn::shape<8, 32>>(x);
  const auto weights = tn::from<tn::shape<32, 16>>(w);
  const auto bias = tn::from<tn::shape<16>>(b);
  auto out = tn::from<tn::shape<8, 16>>(y);
  out.copy_(tanh(matmul(in, weights) + bias));
}
