// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hvp: it takes a function and gives a function: write hvp.f..x, v.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::hvp(sum(x * x));
#else
  auto g = tn::hvp([](auto v) { return sum(v * v); })(x, x);
#endif
}
