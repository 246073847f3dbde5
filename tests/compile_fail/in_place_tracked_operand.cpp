// SPDX-License-Identifier: BSL-1.0
// expect: tenure: (add_|sub_|div_): a tracked operand changes the target.s type: write std::move.target..(add_|sub_|div_).x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  x.add_(w);
#else
  auto node = std::move(x).add_(w);
#endif
}
