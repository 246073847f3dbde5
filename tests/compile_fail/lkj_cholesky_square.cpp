// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::lkj_cholesky: the last two axes of the Cholesky factor are not a square matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using factor = tn::shape<3>;
#else
using factor = tn::shape<3, 3>;
#endif

auto f(const tn::tensor<double, factor>& l) { return tn::eval(tn::log_density::lkj_cholesky(l, 2.0)); }
