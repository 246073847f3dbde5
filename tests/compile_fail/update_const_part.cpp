// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the model is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
using model = std::tuple<vector, const vector>;
#else
using model = std::tuple<vector, vector>;
#endif

void f(model& w, const std::tuple<vector, vector>& gradient) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(w);
  rule.update(w, gradient, state);
}
