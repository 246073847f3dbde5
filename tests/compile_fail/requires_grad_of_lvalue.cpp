// SPDX-License-Identifier: BSL-1.0
// expect: tenure: requires_grad_: it consumes its operand
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  x.requires_grad_();
#else
  auto w = std::move(x).requires_grad_();
#endif
}
