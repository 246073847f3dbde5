// SPDX-License-Identifier: BSL-1.0
// expect: tenure: window: the extent is negative
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  auto y = x[tn::window<-1>(2)];
#else
  auto y = x[tn::window<1>(2)];
#endif
  return y.clone();
}
