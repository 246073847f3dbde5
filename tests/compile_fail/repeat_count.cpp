// SPDX-License-Identifier: BSL-1.0
// expect: tenure: repeat: needs one number, at least 0, for each axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::repeat<2>(x));
#else
  return tn::eval(tn::repeat<2, 1>(x));
#endif
}
