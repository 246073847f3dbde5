// SPDX-License-Identifier: BSL-1.0
// expect: tenure: windows: does not fit its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::windows<0, 5>(x));
#else
  return tn::eval(tn::windows<0, 4>(x));
#endif
}
