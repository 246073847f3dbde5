// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::multivariate_normal: the covariance or its Cholesky factor has another number of rows than x has elements in a row
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using matrix = tn::shape<2, 2>;
#else
using matrix = tn::shape<3, 3>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, matrix>& a) { return tn::eval(tn::log_density::multivariate_normal(x, 0.0, a, tn::covariance)); }
