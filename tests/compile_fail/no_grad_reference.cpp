// SPDX-License-Identifier: BSL-1.0
// expect: tenure: no_grad: the function does not take these aliases
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::no_grad([](auto& v) { v.mul_(2); }, x);
#else
  tn::no_grad([](auto v) { v.mul_(2); }, x);
#endif
}
