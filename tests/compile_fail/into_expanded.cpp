// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is read-only
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto a) { return a * 2; });

void f(const tn::tensor<double, tn::shape<2, 3>>& x, tn::tensor<double, tn::shape<2, 3>>& y) {
#ifdef TENURE_MISUSE
  twice.into(y[0].expand<2, 3>())(x);
#else
  twice.into(y)(x);
#endif
}
