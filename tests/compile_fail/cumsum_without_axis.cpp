// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cumsum: it takes the axis: cumsum.x, tn::axis<0>.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(cumsum(x));
#else
  return tn::eval(cumsum(x, tn::axis<0>));
#endif
}
