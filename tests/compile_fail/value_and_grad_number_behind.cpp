// SPDX-License-Identifier: BSL-1.0
// expect: tenure: value_and_grad: it takes a function and gives a function: .*for argument 1 value_and_grad<1>.f..x, y.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x, auto w) { return sum(x * w); };

void f(const tn::tensor<float, tn::shape<3>>& x, const tn::tensor<float, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  auto [value, g] = tn::value_and_grad(loss, 1)(x, w);
#else
  auto [value, g] = tn::value_and_grad<1>(loss)(x, w);
#endif
}
