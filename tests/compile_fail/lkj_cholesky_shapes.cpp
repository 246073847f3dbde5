// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::lkj_cholesky: the extents of eta and those of the batch differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::shape<4>;
#else
using vector = tn::shape<5>;
#endif

auto f(const tn::tensor<double, tn::shape<5, 3, 3>>& l, const tn::tensor<double, vector>& eta) { return tn::eval(tn::log_density::lkj_cholesky(l, eta)); }
