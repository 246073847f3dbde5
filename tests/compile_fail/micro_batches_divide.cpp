// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches<N>: N divides the number of samples, the first extent of the data, and is more than 1 and less than it
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t parts = 3;
#else
constexpr std::int64_t parts = 4;
#endif

auto f(tn::tensor<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<8, 3>>& x) {
  const auto step = tn::train_step([](auto m, auto at) { return mean(square(m * at)); }, tn::optim::sgd{}, tn::micro_batches<parts>);
  auto state = step.rule.init(w);
  return step(w, state, x);
}
