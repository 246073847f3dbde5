// SPDX-License-Identifier: BSL-1.0
// expect: tenure: no_grad: an argument after the function is not a tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::no_grad([](auto v, double step) { v.mul_(step); }, x, 0.5);
#else
  tn::no_grad([](auto v) { v.mul_(0.5); }, x);
#endif
}
