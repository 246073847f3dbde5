// SPDX-License-Identifier: BSL-1.0
// expect: tenure: se3_inverse: the last two axes do not have the static extents 4 and 4
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<3, 4>;
#else
using operand = tn::shape<4, 4>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::se3_inverse(x)); }
