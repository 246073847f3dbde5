// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where_: a view of a tracked tensor is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x, const tn::tensor<bool, tn::shape<3>>& mask) {
  tn::tensor y = x * 2;
#ifdef TENURE_MISUSE
  y.view().where_(mask, 0);
#else
  y.where_(mask, 0);
#endif
}
