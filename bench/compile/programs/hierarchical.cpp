// SPDX-License-Identifier: BSL-1.0
// A hierarchical model, eight schools: the log density, its gradient, and a chain of Hamiltonian Monte Carlo in one compiled function.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

/// The parameters are mu, log tau and the effects of the schools in units of tau.
constexpr auto density = [](auto p, auto y, auto sigma) {
  const auto mu = p(0), tau = exp(p(1)), effects = p[tn::range<2, 10>()];
  const auto missed = (y - mu - tau * effects) / sigma;
  return -0.5 * sum(square(missed)) - 0.5 * sum(square(effects)) - 0.5 * square(mu / 5.0) - log1p(square(tau / 5.0)) + p(1);
};
constexpr auto slope = tn::grad(density);
constexpr auto chain = [](auto start, auto momenta, auto thresholds, auto y, auto sigma, auto h) {
  const auto iteration = [=](auto p, auto draw) {
    const auto [momentum, threshold] = draw;
    const auto leap = [=](auto, auto state) {
      const auto [q, m] = state;
      const auto half = m + 0.5 * h * slope(q, y, sigma);
      const auto next = q + h * half;
      return std::tuple{next, half + 0.5 * h * slope(next, y, sigma)};
    };
    const auto [q, m] = tn::fori_loop(10, leap, std::tuple{p, momentum});
    const auto change = density(q, y, sigma) - 0.5 * sum(square(m)) - density(p, y, sigma) + 0.5 * sum(square(momentum));
    const auto next = where(threshold < change, q, p);
    return std::tuple{next, next};
  };
  return std::get<1>(tn::scan(iteration, start, std::tuple{momenta, thresholds}));
};
}  // namespace

auto gradient(const array<10>& p, const array<8>& y, const array<8>& sigma) { return tn::value_and_grad(density)(p, y, sigma); }
auto sample(const array<10>& p, const array<1000, 10>& momenta, const array<1000>& thresholds, const array<8>& y, const array<8>& sigma) {
  return tn::compile(chain)(p, momenta, thresholds, y, sigma, 0.1);
}
