// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a target is a node, and a call writes values without a history: give a tensor without a gradient
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::tensor y = x * 3.0;
#else
  tn::tensor y = x.detach() * 3.0;
#endif
  tn::load("x.npz", y);
}
