// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches<N>: each_part and every_part name arguments of the loss, from 1 on, and each one once
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using mark = tn::every_part<0>;
#else
using mark = tn::every_part<2>;
#endif

auto f(tn::tensor<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<8, 3>>& x, const tn::tensor<float, tn::shape<3>>& means) {
  const auto loss = [](auto m, auto at, auto less) { return mean(square(m * (at - less))); };
  const auto step = tn::train_step(loss, tn::optim::sgd{}, tn::micro_batches<4, mark>);
  auto state = step.rule.init(w);
  return step(w, state, x, means);
}
