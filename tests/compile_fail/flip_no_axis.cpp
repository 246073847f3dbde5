// SPDX-License-Identifier: BSL-1.0
// expect: tenure: flip: no axis is named
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(flip(x, tn::axes<>));
#else
  return tn::eval(flip(x, tn::axes<0>));
#endif
}
