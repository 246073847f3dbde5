// SPDX-License-Identifier: BSL-1.0
// Adam (Kingma and Ba, 2015) with decoupled weight decay (AdamW; Loshchilov and Hutter, 2019) where weight_decay > 0.
#pragma once

#include <array>
#include <cmath>

#include <tenure/ops/exponential.hpp>
#include <tenure/optim/rule.hpp>

namespace TENURE_NAMESPACE::optim {

/// Adam (Kingma and Ba, 2015), with decoupled weight decay (AdamW; Loshchilov and Hutter, 2019) where weight_decay > 0.
struct adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  static constexpr int moments = 2;
  static constexpr bool elementwise = true;
  /// The hyperparameters of a step. The bias corrections depend only on the number of steps, so the host computes them. It also computes 1 - beta
  /// in double: in float a beta2 of 1 - 1e-8 is 1, and the variance would stay 0.
  std::array<double, 8> hyperparameters(std::int64_t steps) const {
    const double n = static_cast<double>(steps), first = 1 - std::pow(beta1, n), second = 1 - std::pow(beta2, n);
    return {learning_rate / first, beta1, 1 - beta1, beta2, 1 - beta2, 1 / std::sqrt(second), epsilon, learning_rate * weight_decay};
  }

  /// init() gives the state before the first step, with all moments zero. update() does one step in place.
  auto init(const auto& model) const { return detail::initial_state<adam>(model); }
  void update(auto& model, const auto& gradients, auto& state) const { detail::apply_update(*this, model, gradients, state); }

  template <class P, class H>
  static constexpr std::array<P, 3> step(const P& p, const P& g, const std::array<P, 2>& m, const H& rate, const H& b1, const H& less1, const H& b2,
                                         const H& less2, const H& scale, const H& eps, const H& decay) {
    const auto as = [](const H& h) { return cast<typename P::element_type>(h); };
    const P mean = as(b1) * m[0] + as(less1) * g;
    const P variance = as(b2) * m[1] + as(less2) * (g * g);
    const P shrunk = p - as(decay) * p;
    return {P(shrunk - as(rate) * mean / (sqrt(variance) * as(scale) + as(eps))), mean, variance};
  }
};

}  // namespace tenure::optim
