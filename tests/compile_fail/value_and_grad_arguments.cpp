// SPDX-License-Identifier: BSL-1.0
// expect: tenure: value_and_grad: it takes a function and gives a function
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto w) { return sum(w * w); };

void f(const tn::tensor<float, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  auto [value, g] = tn::value_and_grad(loss, w);
#else
  auto [value, g] = tn::value_and_grad(loss)(w);
#endif
}
