// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::multivariate_normal: the extents of x and of the mean differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::shape<2>;
#else
using vector = tn::shape<3>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, vector>& mean, const tn::tensor<double, tn::shape<3, 3>>& a) { return tn::eval(tn::log_density::multivariate_normal(x, mean, a, tn::covariance)); }
