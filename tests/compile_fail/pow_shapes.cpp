// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pow: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using exponent = tn::tensor<float, tn::shape<2>>;
#else
using exponent = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const exponent& y) { return tn::eval(pow(x, y)); }
