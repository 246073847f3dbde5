// SPDX-License-Identifier: BSL-1.0
// expect: tenure: concat: extents beside the joined axis differ
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<2, 4>>;
#else
using rhs = tn::tensor<double, tn::shape<5, 3>>;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const rhs& b) { return concat<0>(a, b); }
