// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sub_: a tracked operand changes the target.s type: write std::move.target..sub_.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  x.sub_(w);
#else
  auto y = std::move(x).sub_(w);
#endif
}
