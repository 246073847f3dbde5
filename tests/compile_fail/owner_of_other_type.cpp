// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: an owning tensor does not take over another tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

tn::tensor<double, tn::shape<3>> made();

void f() {
#ifdef TENURE_MISUSE
  tn::tensor<float, tn::shape<3>> x = made();
#else
  tn::tensor<float, tn::shape<3>> x = made().to<float>();
#endif
  x.add_(1);
}
