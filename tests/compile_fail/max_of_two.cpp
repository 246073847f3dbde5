// SPDX-License-Identifier: BSL-1.0
// expect: tenure: max: it works along an axis, axis<0>: for two values call maximum
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x, const tn::tensor<float, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  return tn::eval(max(x, y));
#else
  return tn::eval(maximum(x, y));
#endif
}
