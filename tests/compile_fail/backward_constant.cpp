// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: the tensor is a constant
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  tn::tensor y = sum(x * x);
#else
  tn::tensor y = sum(x * w);
#endif
  y.backward();
}
