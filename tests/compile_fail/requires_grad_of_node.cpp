// SPDX-License-Identifier: BSL-1.0
// expect: tenure: requires_grad_: a node cannot drop its gradient: call detach
// P44 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::variable<double, tn::shape<1>>& x) {
  tn::tensor y = x * 2;
#ifdef TENURE_MISUSE
  return std::move(y).requires_grad_<false>();
#else
  return std::move(y).detach();
#endif
}
