// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies before 0 or after the last
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  auto y = x[tn::range<3, 1>()];
#else
  auto y = x[tn::range<1, 3>()];
#endif
  return y.clone();
}
