// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a constant cannot take a tracked expression: detach
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  x = w * 2;
#else
  x = (w * 2).detach();
#endif
}
