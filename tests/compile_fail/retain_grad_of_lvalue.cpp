// SPDX-License-Identifier: BSL-1.0
// expect: tenure: retain_grad: it consumes its operand
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  auto y = x.clone();
#ifdef TENURE_MISUSE
  y.retain_grad();
#else
  auto z = std::move(y).retain_grad();
#endif
}
