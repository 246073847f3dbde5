// SPDX-License-Identifier: BSL-1.0
// Normalisation along the last axis, with a gain (and a bias) of its extent: layer_norm, rms_norm.
#pragma once

#include <tenure/ops/exponential.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

/// (x - mean) / sqrt(variance + epsilon) * gain + bias.
struct layer_norm {
  template <class X, class G, class B, class E>
  static constexpr auto trace(const X& x, const G& gain, const B& bias, const E& epsilon) {
    const auto deviation = sub::trace(x, mean<true, -1>::trace(x));
    const auto variance = mean<true, -1>::trace(mul::trace(deviation, deviation));
    const auto standard = mul::trace(deviation, rsqrt::trace(add::trace(variance, epsilon)));
    return add::trace(mul::trace(standard, gain), bias);
  }
};

/// x / sqrt(mean square + epsilon) * gain (Zhang and Sennrich, 2019).
struct rms_norm {
  template <class X, class G, class E>
  static constexpr auto trace(const X& x, const G& gain, const E& epsilon) {
    const auto mean_square = mean<true, -1>::trace(mul::trace(x, x));
    return mul::trace(mul::trace(x, rsqrt::trace(add::trace(mean_square, epsilon))), gain);
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

template <operand X, class G, class B>
constexpr auto layer_norm(const X& x, const G& gain, const B& bias, double epsilon = 1e-5) {
  static_assert(!scalar<G> && !scalar<B>, "tenure: layer_norm: gain and bias are tensors, and epsilon is the number behind them");
  return apply<ops::layer_norm>(x, gain, bias, epsilon);
}
template <operand X, class G>
constexpr auto rms_norm(const X& x, const G& gain, double epsilon = 1e-6) {
  static_assert(!scalar<G>, "tenure: rms_norm: the gain is a tensor, and epsilon is the number behind it");
  return apply<ops::rms_norm>(x, gain, epsilon);
}

}  // namespace tenure
