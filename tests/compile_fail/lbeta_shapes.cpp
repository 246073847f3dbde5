// SPDX-License-Identifier: BSL-1.0
// expect: tenure: lbeta: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::shape<2>;
#else
using vector = tn::shape<3>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& a, const tn::tensor<double, vector>& b) { return tn::eval(tn::lbeta(a, b)); }
