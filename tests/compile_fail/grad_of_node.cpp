// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: a node keeps its gradient only after retain_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.clone();
#else
  auto y = x.clone().retain_grad();
#endif
  sum(y).backward();
  return y.grad()(0);
}
