// SPDX-License-Identifier: BSL-1.0
// Linear algebra and statistics: a fit with bounds and standard errors, a regression whose weights and evidence come from one factor, and a
// hierarchical model with a sampler that follows its gradient. docs/12-linear-algebra-and-statistics.md.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <tenure/tenure.hpp>

namespace tn = tenure;
namespace density = tn::log_density;

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// A decay above a background: p has the amplitude, the rate and the background.
constexpr auto decay = [](auto p, auto t, auto measured) { return p[0] * exp(-p[1] * t) + p[2] - measured; };

// Weights with a normal prior: y = x w + noise of deviation 1, and w has the given precision. One factor gives the weights and the evidence, log p(y).
constexpr auto regression = [](auto x, auto y, auto precision) {
  const auto a = matmul(transpose(x), x) + precision * tn::eye<double>(tn::shape<3, 3>{});
  const auto b = matmul(transpose(x), y);
  const auto l = tn::cholesky(a);
  const auto w = tn::cholesky_solve(b, l);
  const auto log_det = 2.0 * sum(log(diagonal(l))) - 3.0 * log(precision);
  return std::tuple{w, -0.5 * (log_det + dot(y, y) - dot(b, w)) - 8 * 0.91893853320467274};
};
// The same evidence from the covariance of y, which is 8 x 8.
constexpr auto evidence = [](auto x, auto y, auto precision) {
  const auto a = tn::eye<double>(tn::shape<8, 8>{}) + matmul(x, transpose(x)) / precision;
  return density::multivariate_normal(y, 0.0, a, tn::covariance);
};
// Its derivative says whether a higher precision fits better.
constexpr auto regress = tn::compile([](auto x, auto y, auto precision) {
  const auto [w, value] = regression(x, y, precision);
  const auto slope = tn::grad<2>([](auto a, auto b, auto p) { return std::get<1>(regression(a, b, p)); })(x, y, precision);
  return std::tuple{w, value, slope, evidence(x, y, precision)};
});

// Eight schools: the effect of a training in each, measured with a known error. q has the mean, the logarithm of the spread, and the effects in units of the spread.
constexpr auto schools = [](auto q, auto y, auto error) {
  const auto mean = q[0], log_spread = q[1], spread = exp(log_spread);
  const auto effects = q[tn::range<2, 10>()];
  return density::normal(mean, 0.0, 5.0) + density::normal(spread, 0.0, 5.0) + log_spread  // the last term: d spread = spread d log_spread
         + sum(density::normal(effects, 0.0, 1.0)) + sum(density::normal(y, mean + spread * effects, error));
};

// One step of Hamiltonian Monte Carlo: ten steps along the gradient, which are taken or refused as a whole.
constexpr auto next_draw = [](auto q, auto key, auto y, auto error) {
  constexpr double size = 0.3;
  const auto energy = [=](auto at, auto momentum) { return 0.5 * dot(momentum, momentum) - schools(at, y, error); };
  const auto momentum = tn::normal_like(q, tn::fold_in(key, 0));
  const auto end = tn::fori_loop(10, [=](auto, auto state) {
    const auto middle = std::get<0>(state) + 0.5 * size * std::get<1>(state);
    const auto pushed = std::get<1>(state) + size * tn::grad(schools)(middle, y, error);
    return std::tuple{middle + 0.5 * size * pushed, pushed};
  }, std::tuple{q, momentum});
  const auto gain = energy(q, momentum) - energy(std::get<0>(end), std::get<1>(end));
  const auto is_taken = log(tn::uniform<double>(tn::shape<>{}, tn::fold_in(key, 1))) < gain;
  return where(is_taken, std::get<0>(end), q);
};
// All draws are one compiled loop over the keys: the mean of each parameter, and that of the spread.
constexpr auto means_of_draws = tn::compile([](auto q, auto key, auto y, auto error) {
  const auto step = [=](auto at, auto own_key) {
    const auto next = next_draw(at, own_key, y, error);
    return std::tuple{next, next};
  };
  const auto seen = std::get<1>(tn::scan(step, q, tn::split_key<4000>(key)));
  return std::tuple{mean(seen, tn::axis<0>), mean(exp(seen.at(tn::all, 1)))};
});

bool fit() {
  const array<10> t{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  array<10> measured{5.33, 3.31, 2.16, 1.43, 0.99, 0.70, 0.56, 0.44, 0.39, 0.38};
  array<3> p{1, 1, 0};
  const array<3> lower{0, 0, 0}, upper{HUGE_VAL, HUGE_VAL, HUGE_VAL};
  const auto problem = tn::least_squares(decay, tn::levenberg_marquardt{.value_tolerance = 1e-12}, tn::robust::huber{.scale = 0.1});
  const auto reached = problem.within(lower, upper)(p, t, measured);

  // The covariance of the parameters: that for residuals of variance 1, times the variance that the residuals show.
  const auto c = problem.covariance(p, t, measured);
  const double variance = 2 * reached.value / (10 - 3);
  const char* const names[] = {"amplitude", "rate", "background"};
  for (int i = 0; i < 3; ++i) std::printf("%-10s %.3f +- %.3f\n", names[i], p(i), std::sqrt(variance * c(i, i)));

  // An outlier pulls little, because the loss is linear beyond the scale.
  const double rate = p(1);
  measured.at(5) = 3;
  const auto again = problem.within(lower, upper)(p, t, measured);
  std::printf("rate with an outlier %.3f\n", p(1));
  return reached.converged() && again.converged() && std::abs(rate - 0.5) < 0.02 && std::abs(p(1) - rate) < 0.05;
}

bool line() {
  const array<8, 3> x{{1, 0, 0}, {1, 1, 1}, {1, 2, 4}, {1, 3, 9}, {1, 4, 16}, {1, 5, 25}, {1, 6, 36}, {1, 7, 49}};
  const array<8> y{2.6, 1.9, 2.8, 2.9, 4.8, 5.7, 8.9, 10.8};
  const auto [w, value, slope, by_covariance] = regress(x, y, 0.1);
  std::printf("weights %.4f %.4f %.4f, log evidence %.4f, its slope %.4f\n", w(0), w(1), w(2), value.item(), slope.item());
  return std::abs(value.item() - by_covariance.item()) < 1e-9 && slope.item() > 0;
}

// The integrals over a grid of means and spreads are 4.44 and 3.28.
bool sample() {
  const array<8> y{28, 8, -3, 7, -1, 1, 18, 12}, error{15, 10, 16, 11, 9, 11, 10, 18};
  array<10> q{0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto [value, slope] = tn::value_and_grad(schools)(q, y, error);
  std::printf("log density %.4f, slope by the mean %.4f, by the logarithm of the spread %.4f\n", value.item(), slope(0), slope(1));

  const auto [means, spread] = means_of_draws(q, tn::random_key(3), y, error);
  std::printf("4000 draws: mean %.1f, spread %.1f\n", means(0), spread.item());
  return std::abs(means(0) - 4.44) < 0.25 && std::abs(spread.item() - 3.28) < 0.25;
}

int main() { return fit() && line() && sample() ? 0 : 1; }
