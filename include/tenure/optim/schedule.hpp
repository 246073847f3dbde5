// SPDX-License-Identifier: BSL-1.0
// A learning rate that depends on the number of steps: set `step.rule.learning_rate = rate(state.steps)` before each step. `step` is what
// train_step returned; it holds a copy of the rule.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include <tenure/core/error.hpp>

namespace TENURE_NAMESPACE::optim {

/// Grows linearly to `peak` in the first `warmup` steps, and then falls along half a period of the cosine. It is `end` after `steps` steps, warm-up
/// included, and stays there. The first step, whose number is 0, has peak / (warmup + 1). Throws an error if steps <= 0.
struct warmup_cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t steps = 0;
  double end = 0;

  double operator()(std::int64_t step) const {
    if (steps <= 0) TENURE_THROW(error(tenure::detail::message("warmup_cosine") << "steps is " << steps << ", and has to be the number of steps of the whole run"));
    if (step >= steps) return end;
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    const double part = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return end + (peak - end) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }
};

}  // namespace tenure::optim
