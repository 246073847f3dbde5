// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: a constant has no gradient
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.detach().grad()(0);
#else
  return x.grad()(0);
#endif
}
