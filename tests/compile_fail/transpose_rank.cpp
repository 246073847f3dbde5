// SPDX-License-Identifier: BSL-1.0
// expect: tenure: transpose: needs at least two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::tensor<float, tn::shape<3>>;
#else
using operand = tn::tensor<float, tn::shape<1, 3>>;
#endif

auto f(const operand& x) { return tn::eval(transpose(x)); }
