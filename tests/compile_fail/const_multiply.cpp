// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  tn::no_grad([](const auto v) { v *= 2; }, w);
#else
  tn::no_grad([](auto v) { v *= 2; }, w);
#endif
}
