// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacfwd: it takes a function and gives a function: write jacfwd.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::jacfwd(x * x);
#else
  auto g = tn::jacfwd([](auto v) { return v * v; })(x);
#endif
}
