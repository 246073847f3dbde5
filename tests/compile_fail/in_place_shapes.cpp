// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result would be larger than the target
// P57 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<double, tn::shape<3>>;
#else
using target = tn::tensor<double, tn::shape<2, 3>>;
#endif

void f(target& x, const tn::tensor<double, tn::shape<2, 3>>& y) { x.add_(y); }
