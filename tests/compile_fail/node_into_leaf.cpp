// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a leaf that requires a gradient is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::variable<double, tn::shape<3>>;
#else
using vector = tn::tensor<double, tn::shape<3>, tn::ownership::owning, tn::role::node>;
#endif

void f(vector& x, const tn::variable<double, tn::shape<3>>& w) { x = w * 2; }
