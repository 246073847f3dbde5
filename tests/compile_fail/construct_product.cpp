// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator.: it multiplies elements: the product of a matrix and a vector is matmul
// lines: 12
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;

vector f(const tn::tensor<double, tn::shape<3, 3>>& a, const vector& x) {
#ifdef TENURE_MISUSE
  return a * x + x;
#else
  return matmul(a, x) + x;
#endif
}
