// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: no operand is tracked.*comparisons, integers and stop_gradient
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  sum(where(x > 0, 1.0, 0.0)).backward();
#else
  sum(where(x > 0, x, 0.0)).backward();
#endif
}
