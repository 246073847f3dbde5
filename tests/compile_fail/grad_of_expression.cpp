// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: it takes a function and gives a function
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<float, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  auto g = tn::grad(sum(w * w), w);
#else
  auto g = tn::grad([](auto v) { return sum(v * v); })(w);
#endif
}
