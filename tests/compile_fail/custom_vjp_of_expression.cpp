// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: it takes functions and gives a function: write custom_vjp.f, backward..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto backward = [](auto x, auto t) { return 2.0 * x * t; };

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::custom_vjp(x * x, backward);
#else
  auto g = tn::custom_vjp([](auto v) { return v * v; }, backward)(x);
#endif
}
