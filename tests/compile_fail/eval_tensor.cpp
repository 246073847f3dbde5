// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eval: only an expression is evaluated
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(x);
#else
  return x.clone();
#endif
}
