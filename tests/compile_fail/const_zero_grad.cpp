// SPDX-License-Identifier: BSL-1.0
// expect: tenure: zero_grad: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = const tn::variable<double, tn::shape<3>>;
#else
using target = tn::variable<double, tn::shape<3>>;
#endif

void f(target& x) { x.zero_grad(); }
