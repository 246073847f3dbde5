// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add_: a view of a tracked tensor is written only inside no_grad
// Law: a leaf and every view of a tracked tensor are written only inside no_grad; read-only memory is never written.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::variable<double, tn::shape<3>>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

void f(vector& x) { x[tn::range(0, 2)].add_(1); }
