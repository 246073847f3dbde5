// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where_: a tracked operand changes the target.s type: write std::move.target..where_.mask, y.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  x.where_(x > 0, w);
#else
  x.where_(x > 0, w.detach());
#endif
}
