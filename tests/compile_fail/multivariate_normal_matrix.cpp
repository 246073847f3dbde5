// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::multivariate_normal: the last argument says what the matrix is: tn::covariance or tn::cholesky_factor
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto of = [](const auto& x, const auto& m) { return tn::log_density::multivariate_normal(x, 0.0, m); };
#else
constexpr auto of = [](const auto& x, const auto& m) { return tn::log_density::multivariate_normal(x, 0.0, m, tn::covariance); };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, tn::shape<3, 3>>& m) { return tn::eval(of(x, m)); }
