// SPDX-License-Identifier: BSL-1.0
// expect: tenure: concat: operands have different ranks
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<3>>;
#else
using rhs = tn::tensor<double, tn::shape<1, 3>>;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const rhs& b) { return concat<0>(a, b); }
