// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul: the extents differ and neither of them is 1: the product of matrices is matmul
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const tn::tensor<double, tn::shape<3, 4>>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(a * b);
#else
  return tn::eval(matmul(a, b));
#endif
}
