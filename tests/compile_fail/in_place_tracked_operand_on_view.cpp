// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: a view of an untracked base cannot take a tracked operand
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<2, 3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  auto node = x[0].add_(w);
#else
  auto node = std::move(x).add_(w);
#endif
}
