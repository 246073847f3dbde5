// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: more than one element
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  tn::tensor y = x * 2;
#ifdef TENURE_MISUSE
  y.backward();
#else
  y.backward(tn::ones_like(y));
#endif
}
