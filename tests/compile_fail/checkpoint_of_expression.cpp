// SPDX-License-Identifier: BSL-1.0
// expect: tenure: checkpoint: it takes a function and gives a function: write checkpoint.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::checkpoint(x * x);
#else
  auto g = tn::checkpoint([](auto v) { return v * v; })(x);
#endif
}
