// SPDX-License-Identifier: BSL-1.0
// expect: tenure: flip: an axis is named twice
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 2>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(flip(x, tn::axes<0, -2>));
#else
  return tn::eval(flip(x, tn::axes<0, -1>));
#endif
}
