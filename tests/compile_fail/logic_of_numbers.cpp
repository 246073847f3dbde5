// SPDX-License-Identifier: BSL-1.0
// expect: tenure: logical operation: operands must be bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x, const tn::tensor<float, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  return tn::eval(x && y);
#else
  return tn::eval(x != 0 && y != 0);
#endif
}
