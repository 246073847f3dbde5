// SPDX-License-Identifier: BSL-1.0
// A Gaussian process fitted to noisy observations with a gap: the logarithms of its amplitude, length and noise by the gradient of the log marginal
// likelihood, through cholesky, and their standard errors by its Hessian. Writes the fit with its band of two standard deviations to gaussian_process.svg.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <tenure/tenure.hpp>

#include "support/plot.hpp"

namespace tn = tenure;

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

constexpr int observations = 60, points = 150;
constexpr double log_of_two_pi = 1.8378770664093453;

// ---- the model: p has the logarithms of the amplitude, the length and the noise ---------------------------------------

// The covariance of the function between the places x and z: amplitude^2 exp(-(x - z)^2 / (2 length^2)).
constexpr auto covariance = [](auto x, auto z, auto p) {
  const auto distance = (tn::unsqueeze<1>(x) - tn::unsqueeze<0>(z)) / exp(p(1));
  return exp(2.0 * p(0) - 0.5 * square(distance));
};
// The Cholesky factor of the covariance of the observations. The jitter keeps it positive definite where two places are the same.
constexpr auto factor = [](auto x, auto p) { return tn::cholesky(covariance(x, x, p) + (exp(2.0 * p(2)) + 1e-10) * tn::eye<double>(tn::shape<observations, observations>{})); };

// -log p(y | x, p) = y^T K^-1 y / 2 + log det(K) / 2 + n log(2 pi) / 2.
constexpr auto misfit = [](auto p, auto x, auto y) {
  const auto l = factor(x, p);
  const auto z = tn::solve_triangular(l, y, tn::lower);
  return 0.5 * sum(square(z)) + sum(log(diagonal(l))) + 0.5 * observations * log_of_two_pi;
};

// The mean and the standard deviation of the function at other places.
constexpr auto predict = tn::compile([](auto at, auto p, auto x, auto y) {
  const auto l = factor(x, p);
  const auto between = covariance(x, at, p), whitened = tn::solve_triangular(l, between, tn::lower);
  const auto mean = matmul(transpose(whitened), tn::solve_triangular(l, y, tn::lower));
  return std::tuple{mean, sqrt(maximum(exp(2.0 * p(0)) - sum(square(whitened), tn::axis<0>), 0.0))};
});

// Standard errors of the hyperparameters: the Hessian of the misfit is the inverse of their covariance, where the likelihood is nearly normal.
constexpr auto standard_errors = tn::compile([](auto p, auto x, auto y) { return sqrt(diagonal(tn::inverse(tn::hessian<0>(misfit)(p, x, y)))); });

double truth(double x) { return std::sin(1.3 * x) + 0.4 * std::cos(3.1 * x); }

int main() {
  tn::engine random(5);
  array<observations> x = tn::uniform<double>(tn::shape<observations>{}, random), y = 0.15 * tn::normal<double>(tn::shape<observations>{}, random);
  for (double& place : tn::as_span(x)) place = place < 0.6 ? place * 6.5 : 5.5 + (place - 0.6) * 6.25;  // 0 to 3.9 and 5.5 to 8: a gap
  for (int i = 0; i < observations; ++i) y.at(i) += truth(x(i));

  array<3> p{0.0, 0.5, -1.0};
  const auto reached = tn::minimize(misfit, tn::optim::lbfgs{.gradient_tolerance = 1e-6})(p, x, y);
  const auto errors = standard_errors(p, x, y);
  std::printf("-log likelihood %.3f after %d iterations\n", reached.value, reached.iterations);
  const char* const names[] = {"amplitude", "length", "noise"};
  for (int i = 0; i < 3; ++i) std::printf("  %-9s %.3f, log %.3f +- %.3f\n", names[i], std::exp(p(i)), p(i), errors(i));

  array<points> at;
  for (int i = 0; i < points; ++i) at.at(i) = 8.0 * i / (points - 1);
  const auto [mean, deviation] = predict(at, p, x, y);

  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> seen(points, nothing), low, middle, high, wanted;
  int inside = 0;
  for (int i = 0; i < observations; ++i) seen[static_cast<std::size_t>(std::lround(x(i) / 8.0 * (points - 1)))] = y(i);
  for (int i = 0; i < points; ++i) {
    low.push_back(mean(i) - 2 * deviation(i)), middle.push_back(mean(i)), high.push_back(mean(i) + 2 * deviation(i)), wanted.push_back(truth(at(i)));
    inside += std::abs(wanted.back() - mean(i)) <= 2 * deviation(i);
  }
  std::printf("the function is inside of the band at %d of %d places\n", inside, points);
  examples::write_svg("gaussian_process.svg",
                      {.title = "A Gaussian process with its band of two standard deviations",
                       .x_label = "place in 8/149",
                       .panels = {{"function", {{"truth", wanted}, {"fit", middle}, {"- 2 deviations", low}, {"+ 2 deviations", high}}}, {"observations", {{"observed", seen}}}}});

  const bool is_right = std::abs(std::exp(p(2)) - 0.15) < 0.05 && inside > points * 4 / 5 && reached.gradient_norm < 1e-3;
  return is_right ? 0 : 1;
}
