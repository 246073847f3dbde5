// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::multivariate_normal: the covariance or its Cholesky factor is a square matrix for all rows of x, or one for each
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using factor = tn::shape<3>;
#else
using factor = tn::shape<3, 3>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, factor>& l) { return tn::eval(tn::log_density::multivariate_normal(x, 0.0, l, tn::cholesky_factor)); }
