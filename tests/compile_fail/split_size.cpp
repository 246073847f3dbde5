// SPDX-License-Identifier: BSL-1.0
// expect: tenure: split: needs one size of at least 1, or a size of at least 0 for each part
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  return tn::split<0, 0>(x);
#else
  return tn::split<0, 2>(x);
#endif
}
