// SPDX-License-Identifier: BSL-1.0
// expect: tenure: outer: an operand is not a vector
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<2, 2>>;
#else
using rhs = tn::tensor<float, tn::shape<4>>;
#endif

auto f(const tn::tensor<float, tn::shape<3>>& x, const rhs& y) { return tn::eval(outer(x, y)); }
