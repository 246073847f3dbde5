// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: an expression has no elements before it is computed
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<float, tn::shape<3, 4>>& x) {
#ifdef TENURE_MISUSE
  auto row = (x * x)[0];
#else
  tn::tensor y = x * x;
  auto row = y[0];
#endif
}
