// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linearize: it takes a function and gives a function: write linearize.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::linearize(x * x);
#else
  auto g = tn::linearize([](auto v) { return v * v; })(x);
#endif
}
