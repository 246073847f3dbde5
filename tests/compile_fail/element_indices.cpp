// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator\(\): one index is needed for each axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return x(1);
#else
  return x(1, 2);
#endif
}
