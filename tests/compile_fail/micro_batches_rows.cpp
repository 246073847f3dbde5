// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches<N>: an argument has neither one row for each sample, nor one for each of the N parts, nor no axis
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using scales = tn::tensor<float, tn::shape<3>>;
#else
using scales = tn::tensor<float, tn::shape<8, 3>>;
#endif

auto f(tn::tensor<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<8, 3>>& x, const scales& s) {
  const auto step = tn::train_step([](auto m, auto at, auto by) { return mean(square(m * at * by)); }, tn::optim::sgd{}, tn::micro_batches<4>);
  auto state = step.rule.init(w);
  return step(w, state, x, s);
}
