// SPDX-License-Identifier: BSL-1.0
// The log posterior of a hierarchical logistic regression and its gradient, float64, as a sampler asks for it: 10,000 yes or no in 100 groups, with 8 covariates.
// The intercept of a group is mu + tau z. By hand it is one loop over the observations, by exp and log1p of the C library (`hand`), or blocks of 256
// observations with Eigen's vector functions (`blocks`).
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Dense>

#include <cmath>
#include <cstdint>
#include <random>

namespace {

namespace tn = tenure;
constexpr int count = 10000, groups = 100, covariates = 8;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;
namespace density = tn::log_density;

/// The parameters: mu, log tau, the covariates' weights, and a standardized intercept for each group.
constexpr auto log_posterior = [](auto mu, auto log_tau, auto beta, auto z, auto x, auto group, auto y) {
  const auto tau = exp(log_tau);
  const auto intercepts = mu + tau * z;
  const auto logits = tn::gather<0>(intercepts, group) + matmul(x, beta);
  const auto prior = density::normal(mu, 0.0, 5.0) + density::normal(tau, 0.0, 2.5) + log_tau + sum(density::normal(beta, 0.0, 2.5)) + sum(density::normal(z, 0.0, 1.0));
  return prior + sum(density::bernoulli_logit(y, logits));
};
constexpr auto value_and_slopes = tn::value_and_grad<0, 1, 2, 3>(log_posterior);

constexpr double half_log_of_two_pi = 0.918938533204672741780;

struct posterior {
  double value, by_mu, by_log_tau, by_beta[covariates], by_z[groups];
};

struct logistic {
  array<double> mu, log_tau, value, by_mu, by_log_tau;
  array<double, covariates> beta, by_beta;
  array<double, groups> z, by_z;
  array<double, count, covariates> x;
  array<std::int32_t, count> group;
  array<double, count> y;
  posterior found{};

  explicit logistic(std::int64_t)
      : beta(tn::zeros<double>(tn::shape<covariates>{})), by_beta(beta.clone()), z(tn::zeros<double>(tn::shape<groups>{})), by_z(z.clone()),
        x(tn::zeros<double>(tn::shape<count, covariates>{})), group(tn::zeros<std::int32_t>(tn::shape<count>{})), y(tn::zeros<double>(tn::shape<count>{})) {
    mu = -0.3, log_tau = -0.5;
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    const auto fill = [&](auto& to, double deviation) {
      for (auto& e : tn::as_span(to)) e = deviation * normal(engine);
    };
    fill(beta, 0.5), fill(z, 1), fill(x, 1);
    for (int i = 0; i < count; ++i) {
      const int g = static_cast<int>(engine() % groups);
      bench::data_of(group)[i] = g;
      double logit = -0.3 + 0.6 * z(g);
      for (int k = 0; k < covariates; ++k) logit += x(i, k) * beta(k);
      bench::data_of(y)[i] = normal(engine) < logit ? 1 : 0;
    }
    tenure();
    by_hand(), require("logistic"), in_blocks(), require("logistic, blocks");
  }
  std::int64_t items() const { return count; }
  void require(const char* who) {
    bench::require_agreement(who, value.data(), &found.value, 1, 1e-12);
    bench::require_agreement(who, by_mu.data(), &found.by_mu, 1, 1e-10);
    bench::require_agreement(who, by_log_tau.data(), &found.by_log_tau, 1, 1e-10);
    bench::require_agreement(who, by_beta.data(), found.by_beta, covariates, 1e-10);
    bench::require_agreement(who, by_z.data(), found.by_z, groups, 1e-10);
  }

  [[gnu::noinline]] void tenure() { value_and_slopes.into(value, by_mu, by_log_tau, by_beta, by_z)(mu, log_tau, beta, z, x, group, y); }

  /// The priors, given the sum of the likelihoods and the slopes by logits of each group, which stand in by_z.
  void finish(double likelihood, double m, double l, double tau) {
    double total = likelihood + l - 0.5 * (m / 5) * (m / 5) - 0.5 * (tau / 2.5) * (tau / 2.5) - std::log(5.0) - std::log(2.5) - covariates * std::log(2.5) - (2 + covariates + groups) * half_log_of_two_pi;
    double of_mu = -m / 25, of_tau = -tau / 6.25;
    const double *const b = beta.data(), *const at = z.data();
    for (int k = 0; k < covariates; ++k) total -= 0.5 * b[k] * b[k] / 6.25, found.by_beta[k] -= b[k] / 6.25;
    for (int g = 0; g < groups; ++g) {
      const double slope = found.by_z[g];
      total -= 0.5 * at[g] * at[g];
      of_mu += slope, of_tau += slope * at[g];
      found.by_z[g] = tau * slope - at[g];
    }
    found.value = total, found.by_mu = of_mu, found.by_log_tau = tau * of_tau + 1;
  }
  [[gnu::noinline]] void by_hand() {
    const double m = mu.data()[0], l = log_tau.data()[0], tau = std::exp(l);
    double intercept[groups], by_weight[covariates] = {}, likelihood = 0;
    for (int g = 0; g < groups; ++g) intercept[g] = m + tau * z.data()[g], found.by_z[g] = 0;
    const double *const b = beta.data(), *row = x.data();
    for (int i = 0; i < count; ++i, row += covariates) {
      const std::int32_t g = group.data()[i];
      double logit = intercept[g];
      for (int k = 0; k < covariates; ++k) logit += row[k] * b[k];
      const double seen = y.data()[i], e = std::exp(-std::fabs(logit)), p = (logit < 0 ? e : 1.0) / (1 + e), slope = seen - p;
      likelihood += seen * logit - std::fmax(logit, 0.0) - std::log1p(e);
      found.by_z[g] += slope;
      for (int k = 0; k < covariates; ++k) by_weight[k] += slope * row[k];
    }
    for (int k = 0; k < covariates; ++k) found.by_beta[k] = by_weight[k];
    finish(likelihood, m, l, tau);
  }
  [[gnu::noinline]] void in_blocks() {
    constexpr int most = 256;
    using numbers = Eigen::Array<double, Eigen::Dynamic, 1, Eigen::ColMajor, most, 1>;
    using rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, covariates, Eigen::RowMajor>>;
    const double m = mu.data()[0], l = log_tau.data()[0], tau = std::exp(l);
    double intercept[groups], likelihood = 0;
    for (int g = 0; g < groups; ++g) intercept[g] = m + tau * z.data()[g], found.by_z[g] = 0;
    const Eigen::Map<const Eigen::Matrix<double, covariates, 1>> b(beta.data());
    Eigen::Map<Eigen::Matrix<double, covariates, 1>> by_weight(found.by_beta);
    by_weight.setZero();
    numbers logit(most), e(most), slope(most);
    for (int first = 0; first < count; first += most) {
      const int n = count - first < most ? count - first : most;
      const rows block(x.data() + first * covariates, n, covariates);
      const std::int32_t* const at = group.data() + first;
      const Eigen::Map<const Eigen::ArrayXd> seen(y.data() + first, n);
      logit.resize(n), e.resize(n), slope.resize(n);
      logit.matrix().noalias() = block * b;
      for (int i = 0; i < n; ++i) logit[i] += intercept[at[i]];
      e = (-logit.abs()).exp();
      likelihood += (seen * logit - logit.max(0.0) - e.log1p()).sum();
      slope = seen - (logit < 0.0).select(e, 1.0) / (1.0 + e);
      for (int i = 0; i < n; ++i) found.by_z[at[i]] += slope[i];
      by_weight.noalias() += block.transpose() * slope.matrix();
    }
    finish(likelihood, m, l, tau);
  }
};

const bool registered = [] {
  bench::row<logistic>("logistic", "tenure", count, [](logistic& p) { p.tenure(); });
  bench::row<logistic>("logistic", "hand", count, [](logistic& p) { p.by_hand(); });
  bench::row<logistic>("logistic", "blocks", count, [](logistic& p) { p.in_blocks(); });
  return true;
}();

}  // namespace
