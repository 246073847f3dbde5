// SPDX-License-Identifier: BSL-1.0
// expect: tenure: zero_grad: the tensor has no gradient of its own
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  x.clone().zero_grad();
#else
  x.zero_grad();
#endif
}
