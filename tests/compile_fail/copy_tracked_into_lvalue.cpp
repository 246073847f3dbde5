// SPDX-License-Identifier: BSL-1.0
// expect: tenure: copy_: a tracked source changes the target.s type
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  x.copy_(w);
#else
  auto node = std::move(x).copy_(w);
#endif
}
