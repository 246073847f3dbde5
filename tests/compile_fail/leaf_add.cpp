// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add_: a leaf that requires a gradient is written only inside no_grad
// P41 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::variable<double, tn::shape<2>>;
#else
using vector = tn::tensor<double, tn::shape<2>>;
#endif

void f(vector& x) { x.add_(1); }
