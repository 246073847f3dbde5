// SPDX-License-Identifier: BSL-1.0
// expect: tenure: no_grad: there is no guard: call no_grad with a function, and with the tensors that it writes
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto guard = tn::no_grad();
#else
  tn::no_grad([](auto v) { v.mul_(2); }, x);
#endif
}
