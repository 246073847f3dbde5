// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operation: an operand is neither a tensor nor a number
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, std::vector<float>& y) {
#ifdef TENURE_MISUSE
  return x * y;
#else
  return x * tn::from(y);
#endif
}
