// SPDX-License-Identifier: BSL-1.0
// The log likelihood of a Gaussian process and its gradient, with static and with run-time extents.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;

constexpr auto likelihood = [](auto x, auto y, auto scale, auto length, auto noise) {
  const auto difference = (tn::unsqueeze<1>(x) - tn::unsqueeze<0>(x)) / exp(length);
  const auto is_diagonal = tn::index_along<0>(difference) == tn::index_along<1>(difference);
  const auto k = exp(2.0 * scale) * exp(-0.5 * square(difference)) + where(is_diagonal, exp(2.0 * noise) + 1e-8, 0.0);
  const auto l = tn::cholesky(k);
  const auto z = tn::solve_triangular(l, tn::unsqueeze<1>(y), tn::lower);
  return -0.5 * sum(square(z)) - sum(where(is_diagonal, log(where(is_diagonal, l, 1.0)), 0.0));
};
constexpr auto slopes = tn::value_and_grad<2, 3, 4>(likelihood);
}  // namespace

auto fixed(const tn::tensor<double, tn::shape<64>>& x, const tn::tensor<double, tn::shape<64>>& y) { return slopes(x, y, 0.1, 0.2, -1.0); }
auto any(const tn::tensor<double, tn::shape<tn::dyn>>& x, const tn::tensor<double, tn::shape<tn::dyn>>& y) { return slopes(x, y, 0.1, 0.2, -1.0); }
