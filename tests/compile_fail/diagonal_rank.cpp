// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diagonal: the operand has less than two axes: the matrix with a vector v on its diagonal is diag
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::tensor<float, tn::shape<3>>;
#else
using operand = tn::tensor<float, tn::shape<3, 3>>;
#endif

auto f(const operand& x) { return tn::eval(tn::diagonal(x)); }
