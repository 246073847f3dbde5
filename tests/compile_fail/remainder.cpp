// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator%: there is no remainder
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return x % 2;
#else
  return x - floor(x / 2) * 2;
#endif
}
