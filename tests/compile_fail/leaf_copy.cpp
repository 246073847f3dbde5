// SPDX-License-Identifier: BSL-1.0
// expect: tenure: copy_: a leaf that requires a gradient is written only inside no_grad
// P18 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<2>>& x, const tn::tensor<double, tn::shape<2>>& y) {
#ifdef TENURE_MISUSE
  x.copy_(y);
#else
  tn::no_grad([&](auto v) { v.copy_(y); }, x);
#endif
}
