// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pad: the value is floating, x holds integers or bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<int, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::pad<0, 1>(x, 0.5));
#else
  return tn::eval(tn::pad<0, 1>(x, 5));
#endif
}
