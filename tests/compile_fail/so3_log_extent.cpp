// SPDX-License-Identifier: BSL-1.0
// expect: tenure: so3_log: the last two axes do not have the static extents 3 and 3
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<4, 3>;
#else
using operand = tn::shape<4, 3, 3>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::so3_log(x)); }
