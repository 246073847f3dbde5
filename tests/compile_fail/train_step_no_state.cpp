// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: an argument is not the state of a rule: make it by rule.init.model., and pass it after the model
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto w, auto x) { return sum(square(w - x)); };

void f(tn::tensor<double, tn::shape<3>>& w, const tn::tensor<double, tn::shape<3>>& x) {
  const auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1});
#ifdef TENURE_MISUSE
  step(w, x);
#else
  auto state = step.rule.init(w);
  step(w, state, x);
#endif
}
