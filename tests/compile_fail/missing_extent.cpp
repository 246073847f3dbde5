// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: one integer is needed for each dyn and each name
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f() {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<tn::dyn, tn::dyn>> x(2);
#else
  tn::tensor<double, tn::shape<tn::dyn, tn::dyn>> x(2, 3);
#endif
  x.add_(1);
}
