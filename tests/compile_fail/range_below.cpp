// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies before 0 or after the last: positions from the end are tn::end - 3, tn::end - 1
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<5>>& x) {
#ifdef TENURE_MISUSE
  return x[tn::range<-3, -1>()].clone();
#else
  return x[tn::range<tn::end - 3, tn::end - 1>()].clone();
#endif
}
