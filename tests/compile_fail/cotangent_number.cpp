// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: the cotangent is a tensor or an expression of the value's shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<float, tn::shape<>>& w) {
  auto y = w * w;
#ifdef TENURE_MISUSE
  y.backward(2.0f);
#else
  y.backward(tn::tensor<float, tn::shape<>>(2.0f));
#endif
}
