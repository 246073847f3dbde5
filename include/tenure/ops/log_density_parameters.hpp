// SPDX-License-Identifier: BSL-1.0
// Calls of the log densities with too few or too many parameters. They do not compile, and the message says how many there are.
#pragma once

#include <tenure/ops/log_density.hpp>

namespace TENURE_NAMESPACE::densities {

template <std::size_t Wanted, class... X>
concept with_other_count = some_operand<X...> && sizeof...(X) != Wanted + 1;

template <class... X>
constexpr auto refused(const X&... x) {
  static_assert(detail::never<X...>, "tenure: log_density: another number of parameters behind x: two in normal, log_normal, cauchy, laplace, gamma, inverse_gamma, beta and binomial, three in student_t, one in exponential and poisson: normal(x, mean, deviation)");
  return detail::stand_in(x...);
}

}  // namespace tenure::densities

namespace TENURE_NAMESPACE::log_density {

/// Does not compile: another number of parameters than the distribution has. The message says the numbers.
template <class... X> requires densities::with_other_count<2, X...> constexpr auto normal(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto log_normal(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto cauchy(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto laplace(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto gamma(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto inverse_gamma(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto beta(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<2, X...> constexpr auto binomial(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<3, X...> constexpr auto student_t(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<1, X...> constexpr auto exponential(const X&... x) { return densities::refused(x...); }
template <class... X> requires densities::with_other_count<1, X...> constexpr auto poisson(const X&... x) { return densities::refused(x...); }

}  // namespace tenure::log_density
