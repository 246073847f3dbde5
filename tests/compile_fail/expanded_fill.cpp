// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fill_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<1, 3>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.expand<4, 3>();
#else
  auto y = x.view();
#endif
  y.fill_(1);
}
