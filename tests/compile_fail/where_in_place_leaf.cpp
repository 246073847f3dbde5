// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where_: a leaf that requires a gradient is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x, const tn::tensor<bool, tn::shape<3>>& mask) {
#ifdef TENURE_MISUSE
  x.where_(mask, 0);
#else
  tn::no_grad([&](auto v) { v.where_(mask, 0); }, x);
#endif
}
