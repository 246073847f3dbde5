// SPDX-License-Identifier: BSL-1.0
// expect: tenure: slice: reaches outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::slice<0, 2, 3>(x));
#else
  return tn::eval(tn::slice<0, 2, 2>(x));
#endif
}
