// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: the number of targets differs from the number of results
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x, tn::tensor<double, tn::shape<>>& value, tn::tensor<double, tn::shape<3>>& gradient) {
  constexpr auto step = tn::value_and_grad([](auto a) { return sum(a * a); });
#ifdef TENURE_MISUSE
  step.into(gradient)(x);
#else
  step.into(value, gradient)(x);
#endif
}
