// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: micro_batches and has_aux do not go together: parts add up losses and gradients only; use value_and_grad\(loss, has_aux\) of each part, and rule.update
#include <tenure/tenure.hpp>
namespace tn = tenure;

[[maybe_unused]] constexpr auto loss = [](auto m, auto at) { return mean(square(m * at)); };
[[maybe_unused]] constexpr auto with_aux = [](auto m, auto at) { return std::tuple{mean(square(m * at)), m * at}; };

auto f() {
#ifdef TENURE_MISUSE
  return tn::train_step(with_aux, tn::optim::sgd{}, tn::has_aux, tn::micro_batches<4>);
#else
  return tn::train_step(loss, tn::optim::sgd{}, tn::micro_batches<4>);
#endif
}
