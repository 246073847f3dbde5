// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<4>>;
#else
using rhs = tn::tensor<double, tn::shape<1>>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& a, const rhs& b) { return tn::eval(where(a > 0, a, b)); }
