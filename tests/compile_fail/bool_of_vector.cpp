// SPDX-License-Identifier: BSL-1.0
// expect: tenure: bool: the expression does not have exactly one element
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<2>>;
#else
using vector = tn::tensor<double, tn::shape<1>>;
#endif

bool f(const vector& x) {
  if (x > 0) return true;
  return false;
}
