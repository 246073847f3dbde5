// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches<N>: an argument has not one row for each sample: mark it by its number in the loss, each_part<I> where it has one row for each part, or every_part<I> where all of it goes to every part
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto parts = tn::micro_batches<4>;
#else
constexpr auto parts = tn::micro_batches<4, tn::every_part<2>>;
#endif

auto f(tn::tensor<float, tn::shape<4>>& w, const tn::tensor<float, tn::shape<8, 4>>& x, const tn::tensor<float, tn::shape<4>>& means) {
  const auto step = tn::train_step([](auto m, auto at, auto less) { return mean(square(m * (at - less))); }, tn::optim::sgd{}, parts);
  auto state = step.rule.init(w);
  return step(w, state, x, means);
}
