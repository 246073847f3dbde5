// SPDX-License-Identifier: BSL-1.0
// expect: tenure: copy_: the source.s shape does not broadcast to the target.s
// P22 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<double, tn::shape<3>>;
#else
using target = tn::tensor<double, tn::shape<2, 3>>;
#endif

void f(target& d, const tn::tensor<double, tn::shape<2, 3>>& s) { d.copy_(s); }
