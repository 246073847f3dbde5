// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: the value has another shape than the node
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<float, tn::shape<3>>& w) {
   tn::tensor y = w * 2;
#ifdef TENURE_MISUSE
  y = sum(w);
#else
  y = sum(w) * w;
#endif
 }
