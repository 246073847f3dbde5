// SPDX-License-Identifier: BSL-1.0
// expect: tenure: t: the value is not a matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::tensor<float, tn::shape<6>>;
#else
using operand = tn::tensor<float, tn::shape<2, 3>>;
#endif

void f(const operand& x) { tn::tensor y = (x * 2).t(); }
