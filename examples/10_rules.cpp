// SPDX-License-Identifier: BSL-1.0
// Derivative rules of your own: docs/4-loops-and-branches.md.
#include <cmath>
#include <cstdio>

#include <tenure/tenure.hpp>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// log(1 + exp(x)). For x = 1000 exp(x) is infinite, and the derivative as written is inf / inf. The rule is right everywhere.
constexpr auto log1pexp = tn::custom_jvp([](auto x) { return log(1.0 + exp(x)); },
                                         [](auto x, auto tangent) { return std::tuple{log(1.0 + exp(x)), tangent / (1.0 + exp(-x))}; });

// The value of x. What comes back as its cotangent is cut to [-1, 1].
constexpr auto clip_gradient = tn::custom_vjp([](auto x) { return x; },
                                              [](auto x) { return std::tuple{x, tn::nothing}; },
                                              [](auto, auto cotangent) { return minimum(maximum(cotangent, -1.0), 1.0); });

int main() {
  const array<3> x{-1, 0.5, 1000};
  const auto slopes = tn::grad([](auto at) { return sum(log1pexp(at)); })(x);
  const auto clipped = tn::grad([](auto at) { return sum(square(clip_gradient(at))); })(x);
  std::printf("slopes of log(1 + exp(x)): %.4f %.4f %.4f\n", slopes(0), slopes(1), slopes(2));
  std::printf("clipped gradient of sum(x * x): %.1f %.1f %.1f\n", clipped(0), clipped(1), clipped(2));
  bool right = std::abs(slopes(0) - 1 / (1 + std::exp(1.0))) < 1e-12 && slopes(2) == 1;
  right &= clipped(0) == -1 && clipped(1) == 1 && clipped(2) == 1;
  return right ? 0 : 1;
}
