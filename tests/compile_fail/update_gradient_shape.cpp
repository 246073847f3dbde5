// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the gradients are those of another model: they differ in number, element type or shape from its parameters
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<6>>;
#ifdef TENURE_MISUSE
using gradient = tn::tensor<double, tn::shape<5>>;
#else
using gradient = vector;
#endif

void f(vector& w, const gradient& g) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(w);
  rule.update(w, g, state);
}
