// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: the tensor is detached
// P07 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<>>& a) {
  auto alias = a.detach();
  alias.add_(1);
#ifdef TENURE_MISUSE
  alias.backward();
#else
  a.clone().backward();
#endif
}
