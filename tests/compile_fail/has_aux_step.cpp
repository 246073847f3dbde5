// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: with has_aux the results beside the loss have static extents: otherwise call value_and_grad\(loss, has_aux\) and rule.update
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using data = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using data = tn::tensor<float, tn::shape<8>>;
#endif

constexpr auto loss = [](auto w, auto x) { return std::tuple{sum(square(w * x)), w * x}; };

void f(tn::tensor<float, tn::shape<>>& w, const data& x) {
  auto step = tn::train_step(loss, tn::optim::sgd{}, tn::has_aux);
  auto state = step.rule.init(w);
  step(w, state, x);
}
