// SPDX-License-Identifier: BSL-1.0
// A learning rate that depends on the number of steps: rule.learning_rate = rate(state.steps).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::optim {

/// Grows linearly up to `peak`, which it reaches after `warmup` steps, and falls along half a period of the cosine to `last`, which it reaches
/// after `steps` steps and keeps. The first step, whose number is 0, has peak / (warmup + 1).
struct warmup_cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t steps = 0;
  double last = 0;

  double operator()(std::int64_t step) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    if (step >= steps) return last;
    const double part = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return last + (peak - last) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }
};

}  // namespace tenure::optim
