// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced function captures nothing
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(double scale, const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto y = tn::compile([scale](auto a) { return a * scale; })(x);
#else
  auto y = tn::compile([](auto a, auto s) { return a * s; })(x, scale);
#endif
  y.add_(1);
}
