// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result would be larger than the target
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<float, tn::shape<1, 3>>;
#else
using target = tn::tensor<float, tn::shape<2, 3>>;
#endif

void f(target& x, const tn::tensor<float, tn::shape<2, 3>>& y) { x += y; }
