// SPDX-License-Identifier: BSL-1.0
// expect: tenure: split: the sizes do not add up to the extent of the axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::split<0, 1, 2>(x);
#else
  return tn::split<0, 1, 3>(x);
#endif
}
