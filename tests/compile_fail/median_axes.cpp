// SPDX-License-Identifier: BSL-1.0
// expect: tenure: median: it works along one axis, or over all elements
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(median(x, tn::axes<0, 1>));
#else
  return tn::eval(median(x));
#endif
}
