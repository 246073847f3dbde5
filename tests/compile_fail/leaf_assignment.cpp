// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a leaf that requires a gradient is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x, const tn::tensor<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  x = y * 2;
#else
  tn::no_grad([&](auto v) { v = y * 2; }, x);
#endif
}
