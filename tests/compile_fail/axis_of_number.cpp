// SPDX-License-Identifier: BSL-1.0
// expect: tenure: axis: one axis is written axis<0>
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return softmax(x, -1);
#else
  return softmax(x, tn::axis<-1>);
#endif
}
