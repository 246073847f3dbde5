// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: an owning tensor does not take over another tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<3>> y = x.view();
#else
  tn::tensor<double, tn::shape<3>> y = x.view().clone();
#endif
  y.add_(1);
}
