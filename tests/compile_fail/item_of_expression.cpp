// SPDX-License-Identifier: BSL-1.0
// expect: tenure: item: the expression does not have exactly one element
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(const tn::tensor<double, tn::shape<2>>& x) {
#ifdef TENURE_MISUSE
  return (x * 2).item();
#else
  return sum(x * 2).item();
#endif
}
