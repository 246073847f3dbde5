// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a variable declared by auto keeps the type of its expression: write auto h = tn::eval\(e\)
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto h = tanh(x);
#else
  auto h = tn::eval(tanh(x));
#endif
  for (int i = 0; i < 3; ++i) h = tanh(h * x);
}
