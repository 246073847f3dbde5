// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator~: a mask is negated by !; integers have no operations on bits
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return ~(x < 0);
#else
  return !(x < 0);
#endif
}
