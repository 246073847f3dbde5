// SPDX-License-Identifier: BSL-1.0
// expect: tenure: zero_: a leaf that requires a gradient is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  x.zero_();
#else
  tn::no_grad([](auto v) { v.zero_(); }, x);
#endif
}
