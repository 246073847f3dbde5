// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: a parameter owns its memory, and is a constant or a leaf
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<3>>& gradient) {
  const tn::optim::sgd rule{.learning_rate = 0.1f};
  auto state = rule.init(w);
  auto y = w.clone();
#ifdef TENURE_MISUSE
  rule.update(y, gradient, state);
#else
  rule.update(w, gradient, state);
#endif
}
