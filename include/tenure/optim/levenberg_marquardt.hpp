// SPDX-License-Identifier: BSL-1.0
// The steps of Levenberg and Marquardt, whatever solves their systems: (J^T J + damping D) step = -J^T r, where D is the diagonal of J^T J. The damping
// falls after a step that lowers the cost as predicted, and grows after one that does not.
// Source: Nielsen 1999 for the damping; the defaults are those of Ceres. Ceres bounds D by 1e-6 from below, so the units of parameters matter there.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <tenure/optim/lbfgs.hpp>

namespace TENURE_NAMESPACE {

/// The options of least_squares. The cost is half the sum of the squares of the residuals.
struct levenberg_marquardt {
  int most_iterations = 50;            ///< steps, with those that did not lower the cost
  double gradient_tolerance = 1e-10;   ///< stops if no element of the gradient is larger; it depends on the units of the parameters
  double value_tolerance = 1e-6;       ///< stops if a step lowers the cost by at most this part of it
  double step_tolerance = 1e-8;        ///< stops if a step is at most this part of the parameters
  double initial_damping = 1e-4;
  void (*progress)(const optim::minimum&) = nullptr;  ///< called after each step that lowers the cost
};

namespace optim::detail {

/// An element of D is at least this part of the largest one. It is the square of the rounding error of J, so that a parameter which nothing depends on stays, and one
/// whose unit is 1e-9 of that of another moves.
template <class T>
inline constexpr double noise_of_diagonal = static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(std::numeric_limits<T>::epsilon());

/// What a step gives: the decrease of the cost that the linear model predicts, the length of the step and of the parameters, and the new cost.
struct tried_step {
  double predicted = 0, length = 0, size = 0, cost = 0;
};

/// Runs the steps. problem.linearize() -> {cost, largest gradient} at the point; problem.try_step(damping) -> tried_step; problem.accept() goes there.
template <class Problem>
minimum damped_steps(const levenberg_marquardt& o, Problem& problem) {
  minimum reached;
  const auto linearize = [&] {
    const auto [cost, gradient] = problem.linearize();
    reached.value = cost, reached.gradient_norm = gradient;
  };
  const auto require_finite = [](const char* what, double x) {
    if (std::isfinite(x)) return;
    TENURE_THROW(error(tenure::detail::message("least_squares") << what << " at the start is " << (std::isnan(x) ? "NaN" : "infinite")));
  };
  linearize();
  reached.evaluations = 1;
  require_finite("the cost", reached.value);
  require_finite("the gradient", reached.gradient_norm);
  double damping = o.initial_damping, growth = 2;
  const auto give = [&](stop why) {
    reached.why = why;
    return reached;
  };
  while (reached.gradient_norm > o.gradient_tolerance) {
    if (reached.iterations == o.most_iterations) return give(stop::iterations);
    ++reached.iterations;
    ++reached.evaluations;
    const tried_step tried = problem.try_step(damping);
    const bool is_finite = std::isfinite(tried.predicted) && std::isfinite(tried.length) && std::isfinite(tried.cost);
    if (is_finite && tried.length <= o.step_tolerance * (tried.size + o.step_tolerance)) return give(stop::step);
    const double decrease = reached.value - tried.cost, part = is_finite && tried.predicted > 0 ? decrease / tried.predicted : -1;
    if (!(part > 1e-3)) {
      damping *= growth;
      growth *= 2;
      if (damping > 1e32) return give(stop::search);
      continue;
    }
    const double over = 2 * part - 1;
    damping = std::max(damping * std::max(1.0 / 3, 1 - over * over * over), 1e-16);
    growth = 2;
    problem.accept();
    const double before = reached.value;
    linearize();
    if (o.progress != nullptr) o.progress(reached);
    if (decrease <= o.value_tolerance * before) return give(stop::value);
  }
  return give(stop::gradient);
}

}  // namespace optim::detail
}  // namespace tenure
