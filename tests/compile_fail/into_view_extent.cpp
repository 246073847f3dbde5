// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target has another extent than its result
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

void f(tn::tensor<double, tn::shape<4, 3>>& y, const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  twice.into(y.at(tn::all, 1))(x);
#else
  twice.into(y[1])(x);
#endif
}
