// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: no operand is tracked
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  const auto y = sum(x * x);
#ifdef TENURE_MISUSE
  y.detach().backward();
#else
  y.backward();
#endif
}
