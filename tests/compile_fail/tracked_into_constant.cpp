// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a constant cannot take a tracked expression: detach
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  tn::tensor<double, tn::shape<3>> x = w * 2;
#else
  tn::tensor<double, tn::shape<3>> x = (w * 2).detach();
#endif
  x.add_(1);
}
