// SPDX-License-Identifier: BSL-1.0
// expect: expected .*(before|after)
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::no_grad guard;
#else
  tn::no_grad([](auto v) { v.mul_(2); }, x);
#endif
}
