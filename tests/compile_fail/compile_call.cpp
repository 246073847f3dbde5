// SPDX-License-Identifier: BSL-1.0
// expect: tenure: compile: it takes a function and gives a function: write compile.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto v) { return exp(v); };

auto g(const tn::tensor<double, tn::shape<3, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::compile(f, x);
#else
  return tn::compile(f)(x);
#endif
}
