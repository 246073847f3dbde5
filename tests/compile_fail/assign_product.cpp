// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator.: it multiplies elements: the product of a matrix and a vector is matmul
// lines: 13
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;

void f(const tn::tensor<double, tn::shape<3, 3>>& a, const vector& x, vector& y) {
#ifdef TENURE_MISUSE
  y = a * x;
#else
  y = matmul(a, x);
#endif
}
