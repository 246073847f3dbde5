// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: with micro_batches each argument after the state is a tensor or a number
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto w, auto data) {
  if constexpr (requires { data.graph; }) return sum(square(w * data));
  else return sum(square(w * std::get<0>(data)));
};

auto f(tn::tensor<float, tn::shape<3>>& w, const tn::tensor<float, tn::shape<8, 3>>& x) {
  const auto step = tn::train_step(loss, tn::optim::sgd{}, tn::micro_batches<4>);
  auto state = step.rule.init(w);
#ifdef TENURE_MISUSE
  return step(w, state, std::tuple{x.clone()});
#else
  return step(w, state, x);
#endif
}
