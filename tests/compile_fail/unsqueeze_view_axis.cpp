// SPDX-License-Identifier: BSL-1.0
// expect: tenure: unsqueeze: the axis lies outside the result's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x.unsqueeze<2>().clone();
#else
  return x.unsqueeze<1>().clone();
#endif
}
