// SPDX-License-Identifier: BSL-1.0
// expect: tenure: chunk: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 2>>& x) {
#ifdef TENURE_MISUSE
  return tn::chunk<2, 2>(x);
#else
  return tn::chunk<2, 1>(x);
#endif
}
