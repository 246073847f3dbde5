// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a leaf cannot be made from an expression
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::variable<double, tn::shape<3>> w = x * 2;
#else
  tn::variable<double, tn::shape<3>> w = tn::eval(x * 2).requires_grad_();
#endif
  w.zero_grad();
}
