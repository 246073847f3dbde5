// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result would be larger than the target
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using source = tn::tensor<float, tn::shape<5, 3>>;
#else
using source = tn::tensor<float, tn::shape<1, 3>>;
#endif

void f(tn::tensor<float, tn::shape<2, 3>>& x, const source& y) { x += y; }
