// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator.: masks are joined by ..; integers have no operations on bits
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return (x < 0) | (x > 1);
#else
  return (x < 0) || (x > 1);
#endif
}
