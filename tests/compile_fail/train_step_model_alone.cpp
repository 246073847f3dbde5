// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: an argument is not the state of a rule: make it by rule.init.model., and pass it after the model
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;
constexpr auto loss = [](auto w) { return sum(square(w)); };

void f(vector& w) {
  auto step = tn::train_step(loss, tn::optim::adam{});
  [[maybe_unused]] auto state = step.rule.init(w);
#ifdef TENURE_MISUSE
  step(w);
#else
  step(w, state);
#endif
}
