// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the step is not positive
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  auto y = x[tn::range<0, 4, -1>()];
#else
  auto y = x[tn::range<0, 4, 2>()];
#endif
  return y.clone();
}
