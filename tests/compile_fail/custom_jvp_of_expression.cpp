// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_jvp: it takes functions and gives a function: write custom_jvp.f, rule..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto rule = [](auto x, auto t) { return std::tuple{x * x, 2.0 * x * t}; };

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::custom_jvp(x * x, rule);
#else
  auto g = tn::custom_jvp([](auto v) { return v * v; }, rule)(x);
#endif
}
