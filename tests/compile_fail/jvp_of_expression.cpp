// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: it takes a function and gives a function: write jvp.f..x, tangent.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::jvp(x * x);
#else
  auto g = tn::jvp([](auto v) { return v * v; })(x, x);
#endif
}
