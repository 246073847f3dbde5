// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the number of values differs from the extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f() {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<3>> x{1, 2};
#else
  tn::tensor<double, tn::shape<3>> x{1, 2, 3};
#endif
  x.add_(1);
}
