// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian: it takes a function and gives a function: write hessian.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::hessian(sum(x * x));
#else
  auto g = tn::hessian([](auto v) { return sum(v * v); })(x);
#endif
}
