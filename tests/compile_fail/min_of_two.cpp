// SPDX-License-Identifier: BSL-1.0
// expect: tenure: min: it works along an axis, axis<0>: for two values call minimum
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x, const tn::tensor<float, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  return tn::eval(min(x, y));
#else
  return tn::eval(minimum(x, y));
#endif
}
