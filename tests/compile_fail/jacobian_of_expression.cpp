// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacobian: it takes a function and gives a function: write jacobian.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::jacobian(x * x);
#else
  auto g = tn::jacobian([](auto v) { return v * v; })(x);
#endif
}
