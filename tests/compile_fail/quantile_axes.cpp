// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantile: it works along one axis, or over all elements
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(quantile(x, 0.25, tn::axes<0, 1>));
#else
  return tn::eval(quantile(x, 0.25));
#endif
}
