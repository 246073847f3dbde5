// SPDX-License-Identifier: BSL-1.0
// The functions of gmm, also for bench/peers/gradbench_in_jax.py. The precision of a component is Q'Q: Q is lower triangular, exp(q) is its
// diagonal, and l has what lies below, column by column. The prior is Wishart's, with precision gamma and m additional degrees of freedom.
#pragma once

#include <tenure/tenure.hpp>

namespace gradbench::gmm {

namespace tn = tenure;

inline constexpr auto lower_triangle = [](auto q, auto l, auto places) {
  const auto below = gather<0>(l, places);
  const auto row = tn::index_along<0>(below), column = tn::index_along<1>(below);
  return where(row > column, below, where(row == column, exp(q), 0.0));
};
/// The logarithm of the density of one component at all points, without constants.
inline constexpr auto component = [](auto alpha, auto mean, auto q, auto l, auto x, auto places) {
  const auto lower = lower_triangle(q, l, places);
  const auto y = matmul(lower, transpose(x)) - tn::unsqueeze<1>(matmul(lower, mean));
  return alpha + sum(q) - 0.5 * sum(square(y), tn::axis<0>);
};
inline constexpr auto log_posterior = [](auto alpha, auto mu, auto q, auto l, auto x, auto places, auto n, auto m, auto gamma) {
  const auto of_points = tn::vmap<0, 0, 0, 0, tn::unmapped, tn::unmapped>(component)(alpha, mu, q, l, x, places);
  const auto likelihood = sum(logsumexp(of_points, tn::axis<0>)) - n * logsumexp(alpha);
  const auto prior = m * sum(q) - 0.5 * gamma * gamma * (sum(exp(2.0 * q)) + sum(square(l)));
  return likelihood + prior;
};

}  // namespace gradbench::gmm
