// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density::exponential: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::shape<2>;
#else
using vector = tn::shape<3>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, vector>& v) { return tn::eval(tn::log_density::exponential(x, v)); }
