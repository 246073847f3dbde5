// SPDX-License-Identifier: BSL-1.0
// expect: tenure: chunk: the number of parts is less than 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::chunk<0>(x);
#else
  return tn::chunk<2>(x);
#endif
}
