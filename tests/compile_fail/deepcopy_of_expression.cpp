// SPDX-License-Identifier: BSL-1.0
// expect: tenure: deepcopy: a node has a history
// P24 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<2>>& a) {
#ifdef TENURE_MISUSE
  auto copy = tn::deepcopy(a * 2);
#else
  auto copy = tn::deepcopy(a);
#endif
}
