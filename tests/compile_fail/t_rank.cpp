// SPDX-License-Identifier: BSL-1.0
// expect: tenure: t: the value is not a matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<2, 3, 4>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.t();
#else
  auto y = x.transpose<1, 2>();
#endif
}
