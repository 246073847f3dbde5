// SPDX-License-Identifier: BSL-1.0
// A function of many operations: five an iteration, of which three are transcendental or fused multiply-adds.
#pragma once

#include <tenure/cuda.hpp>

template <int TripCount>
auto compute() {
  namespace tn = tenure;
  const auto x = tn::tensor<float, tn::shape<1000>>{}.to(tn::cuda);
  constexpr auto f = tn::compile([](auto x) {
    auto h = x * 2.0;
    for (int i = 0; i < TripCount; ++i) h = tanh(h * x + 1.0) - exp(h);
    return h;
  });
  return f(x);
}
