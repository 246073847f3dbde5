// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sub_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using base = const tn::variable<double, tn::shape<3>>;
#else
using base = tn::variable<double, tn::shape<3>>;
#endif

void f(base& x) { x.detach().sub_(1); }
