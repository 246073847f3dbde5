// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fill_: the tensor has a history that a fill would cut
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  tn::tensor y = x * 2;
#ifdef TENURE_MISUSE
  y.fill_(0);
#else
  y.detach().fill_(0);
#endif
}
