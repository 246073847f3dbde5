// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced function captures nothing
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& w, const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto y = tn::compile([&](auto a) { return a * w; })(x);
#else
  auto y = tn::compile([](auto a, auto b) { return a * b; })(x, w);
#endif
  y.add_(1);
}
