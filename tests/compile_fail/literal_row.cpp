// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the length of a row differs from the extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f() {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<2, 3>> x{{1, 2}, {3, 4}};
#else
  tn::tensor<double, tn::shape<2, 3>> x{{1, 2, 0}, {3, 4, 0}};
#endif
  x.add_(1);
}
