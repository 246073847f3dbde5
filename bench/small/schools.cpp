// SPDX-License-Identifier: BSL-1.0
// The log density of the model of eight schools and its gradient, float64, as a sampler asks for it: the mean mu, the logarithm of the spread tau, and the
// standardized effects of the schools. By hand it is one loop over the schools.
#include "small.hpp"

#include <cmath>

namespace {

using namespace bench::small;

constexpr auto density = [](auto mu, auto log_tau, auto effects, auto y, auto sigma) {
  const auto tau = exp(log_tau), prior = -0.5 * square(mu / 5.0) - log1p(square(tau / 5.0)) + log_tau;
  return prior - 0.5 * sum(square(effects)) - 0.5 * sum(square((y - mu - tau * effects) / sigma));
};
constexpr auto density_and_slopes = tn::value_and_grad<0, 1, 2>(density);

struct schools {
  array<> mu, log_tau, value, by_mu, by_log_tau;
  array<8> effects, y, sigma, by_effects;
  struct {
    double value, by_mu, by_log_tau, by_effects[8];
  } hand;

  explicit schools(std::int64_t) {
    constexpr double effect[] = {28, 8, -3, 7, -1, 1, 18, 12}, error[] = {15, 10, 16, 11, 9, 11, 10, 18};
    fill(1, effects);
    mu = 4.4, log_tau = 1.2;
    for (int i = 0; i < 8; ++i) y.at(i) = effect[i], sigma.at(i) = error[i];
    tenure(), by_hand();
    bench::require_agreement("schools", value.data(), &hand.value, 1, 1e-12);
    bench::require_agreement("schools by mu", by_mu.data(), &hand.by_mu, 1, 1e-12);
    bench::require_agreement("schools by log tau", by_log_tau.data(), &hand.by_log_tau, 1, 1e-12);
    bench::require_agreement("schools by effects", by_effects.data(), hand.by_effects, 8, 1e-12);
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void tenure() { density_and_slopes.into(value, by_mu, by_log_tau, by_effects)(mu, log_tau, effects, y, sigma); }
  [[gnu::noinline]] void by_hand() {
    const double m = mu.data()[0], l = log_tau.data()[0], tau = std::exp(l), t = tau / 5;
    const double *const e = effects.data(), *const seen = y.data(), *const error = sigma.data();
    double total = 0, of_mu = 0, of_tau = 0;
    for (int i = 0; i < 8; ++i) {
      const double over = 1 / error[i], z = (seen[i] - m - tau * e[i]) * over, slope = z * over;
      total += e[i] * e[i] + z * z;
      of_mu += slope, of_tau += slope * e[i];
      hand.by_effects[i] = tau * slope - e[i];
    }
    hand.value = -0.5 * (m / 5) * (m / 5) - std::log1p(t * t) + l - 0.5 * total;
    hand.by_mu = of_mu - m / 25;
    hand.by_log_tau = tau * of_tau - 2 * t * t / (1 + t * t) + 1;
  }
};

const bool registered = [] {
  bench::row<schools>("schools", "tenure", 8, [](schools& p) { p.tenure(); });
  bench::row<schools>("schools", "hand", 8, [](schools& p) { p.by_hand(); });
  return true;
}();

}  // namespace
