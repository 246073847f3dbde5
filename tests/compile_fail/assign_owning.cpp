// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: an owning tensor is not copied
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, tn::tensor<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  x = y;
#else
  x.copy_(y);
#endif
}
