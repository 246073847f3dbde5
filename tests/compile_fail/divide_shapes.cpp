// SPDX-License-Identifier: BSL-1.0
// expect: tenure: div: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using divisor = tn::tensor<float, tn::shape<2>>;
#else
using divisor = tn::tensor<float, tn::shape<2, 1>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const divisor& y) { return tn::eval(x / y); }
