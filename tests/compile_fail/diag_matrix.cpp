// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diag: it takes a vector: of a matrix m the vector is diagonal
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::tensor<float, tn::shape<3, 3>>;
#else
using operand = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const operand& x) { return tn::eval(tn::diag(x)); }
