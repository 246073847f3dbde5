// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear: x and w have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = double;
#else
using element = float;
#endif

auto f(const tn::tensor<float, tn::shape<3, 4>>& x, const tn::tensor<element, tn::shape<5, 4>>& w) { return tn::eval(linear(x, w)); }
