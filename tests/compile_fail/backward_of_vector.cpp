// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: more than one element: give a cotangent
// P34 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<2>>& x) {
#ifdef TENURE_MISUSE
  (x * 2).backward();
#else
  (x * 2).backward(tn::ones_like(x));
#endif
}
