// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the model is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = const tn::variable<double, tn::shape<3>>;
#else
using vector = tn::variable<double, tn::shape<3>>;
#endif

void f(vector& w, const tn::tensor<double, tn::shape<3>>& gradient) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(w);
  rule.update(w, gradient, state);
}
