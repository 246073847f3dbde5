// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: more indices than the tensor has axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  x.at(0, 1).fill_(1);
#else
  x.at(0).fill_(1);
#endif
}
