// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator..: an expression has no elements before it is computed
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return (x * x)(0);
#else
  tn::tensor y = x * x;
  return y(0);
#endif
}
