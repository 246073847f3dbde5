// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul_: a leaf that requires a gradient is written only inside no_grad, through the argument of its function
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::no_grad([&] { x.mul_(2); });
#else
  tn::no_grad([](auto v) { v.mul_(2); }, x);
#endif
}
