// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the state has another number of moments than the rule: it is the state of another rule
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w, auto x) { return sum(square(w * x)); };

void f(vector& w, const vector& x) {
#ifdef TENURE_MISUSE
  auto state = tn::optim::sgd{}.init(w);
#else
  auto state = tn::optim::adam{}.init(w);
#endif
  tn::train_step(loss, tn::optim::adam{})(w, state, x);
}
