// SPDX-License-Identifier: BSL-1.0
// expect: tenure: concat: operands have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<2>>;
#else
using rhs = tn::tensor<double, tn::shape<2>>;
#endif

auto f(const tn::tensor<double, tn::shape<2>>& a, const rhs& b) { return concat<0>(a, b); }
