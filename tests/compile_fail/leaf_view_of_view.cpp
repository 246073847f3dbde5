// SPDX-License-Identifier: BSL-1.0
// expect: tenure: copy_: a view of a tracked tensor is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<2, 3>>& x, const tn::tensor<double, tn::shape<2>>& y) {
#ifdef TENURE_MISUSE
  x.transpose()[0].copy_(y);
#else
  x.detach().transpose()[0].copy_(y);
#endif
}
