// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is a node, and a call writes values without a history: give a tensor without a gradient
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto a) { return a * 2; });

void f(const tn::variable<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  tn::tensor y = x * 3.0;
#else
  tn::tensor y = x.detach() * 3.0;
#endif
  twice.into(y)(x);
}
