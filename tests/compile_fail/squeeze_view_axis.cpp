// SPDX-License-Identifier: BSL-1.0
// expect: tenure: squeeze: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<1, 3>>& x) {
#ifdef TENURE_MISUSE
  return x.squeeze<2>().clone();
#else
  return x.squeeze<0>().clone();
#endif
}
