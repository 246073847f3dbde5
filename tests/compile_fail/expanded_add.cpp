// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add_: the tensor is read-only
// P49 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3, 1>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.expand<3, 4>();
#else
  auto y = x.expand<3, 4>().clone();
#endif
  y.add_(1);
}
