// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches: the first extent of the data is a run-time one; the parts have a static one
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using data = tn::tensor<float, tn::shape<tn::dyn, 3>>;
#else
using data = tn::tensor<float, tn::shape<8, 3>>;
#endif

auto f(tn::tensor<float, tn::shape<3>>& w, const data& x) {
  const auto step = tn::train_step([](auto m, auto at) { return mean(square(m * at)); }, tn::optim::sgd{}, tn::micro_batches<4>);
  auto state = step.rule.init(w);
  return step(w, state, x);
}
