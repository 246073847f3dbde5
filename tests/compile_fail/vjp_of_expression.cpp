// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: it takes a function and gives a function: write vjp.f..x, cotangent.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::vjp(x * x);
#else
  auto g = tn::vjp([](auto v) { return v * v; })(x, x);
#endif
}
