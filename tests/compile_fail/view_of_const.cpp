// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using base = const tn::tensor<double, tn::shape<3>>;
#else
using base = tn::tensor<double, tn::shape<3>>;
#endif

void f(base& x) { x[0] = 1.0; }
