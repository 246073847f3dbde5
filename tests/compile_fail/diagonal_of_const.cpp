// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fill_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using base = const tn::tensor<double, tn::shape<3, 3>>;
#else
using base = tn::tensor<double, tn::shape<3, 3>>;
#endif

void f(base& x) { x.diagonal().fill_(1); }
