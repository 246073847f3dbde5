// SPDX-License-Identifier: BSL-1.0
// expect: tenure: roll: the number of shifts differs from the number of axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 2>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::roll<1>(x, tn::axes<0, 1>));
#else
  return tn::eval(tn::roll<1, 1>(x, tn::axes<0, 1>));
#endif
}
