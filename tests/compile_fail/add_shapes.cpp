// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<3>>;
#else
using rhs = tn::tensor<double, tn::shape<2>>;
#endif

tn::tensor<double, tn::shape<2>> f(const tn::tensor<double, tn::shape<2>>& a, const rhs& b) { return a + b; }
