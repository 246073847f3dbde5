// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to: the element type is not bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.to<short>();
#else
  return x.to<int>();
#endif
}
