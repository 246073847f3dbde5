// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: the loss captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
#include <tenure/debug_nans.hpp>
#include <tenure/optim/sgd.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;

struct scaled {
#ifdef TENURE_MISUSE
  float scale = 1;
  constexpr auto operator()(auto w, auto x) const { return sum(w * x) * scale; }
#else
  constexpr auto operator()(auto w, auto x, auto scale) const { return sum(w * x) * scale; }
#endif
};

void f(vector& w, const vector& x, float scale) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(w);
#ifdef TENURE_MISUSE
  auto step = tn::debug_nans(tn::train_step(scaled{scale}, rule));
  step(w, state, x);
#else
  auto step = tn::debug_nans(tn::train_step(scaled{}, rule));
  step(w, state, x, scale);
#endif
}
