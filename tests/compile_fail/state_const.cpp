// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the state is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& w, const tn::tensor<double, tn::shape<3>>& gradient) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
#ifdef TENURE_MISUSE
  const auto state = rule.init(w);
#else
  auto state = rule.init(w);
#endif
  rule.update(w, gradient, state);
}
