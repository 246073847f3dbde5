// SPDX-License-Identifier: BSL-1.0
// expect: tenure: zero_: a view of a tracked tensor is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  tn::tensor y = x * 2;
#ifdef TENURE_MISUSE
  y.view().zero_();
#else
  y.zero_();
#endif
}
