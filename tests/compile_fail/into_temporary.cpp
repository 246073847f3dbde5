// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is a temporary that owns its memory, so its result would be lost: give it a name
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto a) { return a * 2; });

void f(const tn::tensor<double, tn::shape<3>>& x, tn::tensor<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  twice.into(y.clone())(x);
#else
  twice.into(y.view())(x);
#endif
}
