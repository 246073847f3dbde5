// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sort: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(sort(x, tn::axis<2>));
#else
  return tn::eval(sort(x, tn::axis<1>));
#endif
}
