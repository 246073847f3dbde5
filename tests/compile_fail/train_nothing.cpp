// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the model has no parameters
#include <tenure/tenure.hpp>
#include <tenure/optim/sgd.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using model = std::tuple<>;
#else
using model = std::tuple<tn::tensor<float, tn::shape<3>>>;
#endif

void f(model& w, const model& gradient) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(w);
  rule.update(w, gradient, state);
}
