// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<2, 4, 4>>;
#else
using rhs = tn::tensor<float, tn::shape<2, 1, 4>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3, 4>>& x, const rhs& y) { return tn::eval(x * y); }
