// SPDX-License-Identifier: BSL-1.0
// expect: tenure: deepcopy: a node has a history
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::variable<double, tn::shape<3>>& x) {
  auto y = x.clone();
#ifdef TENURE_MISUSE
  return tn::deepcopy(y);
#else
  return tn::deepcopy(y.detach());
#endif
}
