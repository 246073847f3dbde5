// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_jvp: it takes functions and gives a function: write custom_jvp.f, rule..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto v) { return v * v; };
constexpr auto rule = [](auto x, auto t) { return std::tuple{x * x, 2.0 * x * t}; };

auto g(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::custom_jvp(f, rule, x);
#else
  return tn::custom_jvp(f, rule)(x);
#endif
}
