// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: the expression.s shape does not broadcast to the target.s
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using source = tn::tensor<float, tn::shape<5, 3>>;
#else
using source = tn::tensor<float, tn::shape<1, 3>>;
#endif

void f(tn::tensor<float, tn::shape<2, 3>>& x, const source& y) { x = y * 2; }
