// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches<N>: an argument that is marked each_part has not N rows, one for each part
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t rows = 2;
#else
constexpr std::int64_t rows = 4;
#endif

auto f(tn::tensor<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<8, 3>>& x, const tn::tensor<float, tn::shape<rows>>& scales) {
  const auto loss = [](auto m, auto at, auto by) { return mean(square(m * at)) * sum(by); };
  const auto step = tn::train_step(loss, tn::optim::sgd{}, tn::micro_batches<4, tn::each_part<2>>);
  auto state = step.rule.init(w);
  return step(w, state, x, scales);
}
