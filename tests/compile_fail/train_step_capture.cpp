// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: the loss captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
#include <tenure/optim/sgd.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;

void f(vector& w, const vector& x, float scale) {
   const tn::optim::sgd rule{.learning_rate = 0.1};
   auto state = rule.init(w);
#ifdef TENURE_MISUSE
  auto step = tn::train_step([scale](auto w, auto x) { return sum(w * x) * scale; }, rule);
  step(w, state, x);
#else
  auto step = tn::train_step([](auto w, auto x, auto scale) { return sum(w * x) * scale; }, rule);
  step(w, state, x, scale);
#endif
 }
