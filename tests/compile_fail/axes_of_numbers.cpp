// SPDX-License-Identifier: BSL-1.0
// expect: tenure: axis: axes are written axis<0>
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return sum(x, 0);
#else
  return sum(x, tn::axis<0>);
#endif
}
