// SPDX-License-Identifier: BSL-1.0
// Stochastic gradient descent with momentum and weight decay.
#pragma once

#include <array>

#include <tenure/ops/arithmetic.hpp>
#include <tenure/optim/rule.hpp>

namespace TENURE_NAMESPACE::optim {

/// Stochastic gradient descent, as PyTorch's SGD without dampening: g += weight_decay * p; v = momentum * v + g; p -= learning_rate * v.
struct sgd {
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;

  static constexpr int moments = 1;
  static constexpr bool elementwise = true;
  std::array<double, 3> hyperparameters(std::int64_t) const { return {learning_rate, momentum, weight_decay}; }

  /// init() gives the state before the first step, with all velocities zero. update() does one step in place.
  auto init(const auto& model) const { return detail::initial_state<sgd>(model); }
  void update(auto& model, const auto& gradients, auto& state) const { detail::apply_update(*this, model, gradients, state); }

  template <class P, class H>
  static constexpr std::array<P, 2> step(const P& p, const P& g, const std::array<P, 1>& v, const H& rate, const H& momentum, const H& decay) {
    const auto as = [](const H& h) { return cast<typename P::element_type>(h); };
    const P velocity = as(momentum) * v[0] + (g + as(decay) * p);
    return {P(p - as(rate) * velocity), velocity};
  }
};

}  // namespace tenure::optim
