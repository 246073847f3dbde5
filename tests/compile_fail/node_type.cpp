// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: the value has another element type than the node: cast it
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<float, tn::shape<3>>& w, const tn::tensor<double, tn::shape<3>>& x) {
   tn::tensor y = w * 2;
#ifdef TENURE_MISUSE
  y = x * 2;
#else
  y = tn::cast<float>(x * 2);
#endif
 }
