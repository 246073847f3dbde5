// SPDX-License-Identifier: BSL-1.0
// expect: tenure: copy_: a view of an untracked base cannot take a tracked source: consume the base
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<2, 3>>& x, const tn::variable<float, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  return x[0].copy_(w);
#else
  return x[0].copy_(w.detach());
#endif
 }
