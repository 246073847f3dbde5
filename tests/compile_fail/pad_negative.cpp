// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pad: cannot pad by less than 0; slice instead
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::pad<0, -1>(x));
#else
  return tn::eval(tn::slice<0, 1, 2>(x));
#endif
}
