// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: it takes functions and gives a function: write custom_vjp.f, backward..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto v) { return v * v; };
constexpr auto backward = [](auto x, auto t) { return 2.0 * x * t; };

auto g(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::custom_vjp(f, backward, x);
#else
  return tn::custom_vjp(f, backward)(x);
#endif
}
