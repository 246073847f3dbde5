// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = const tn::tensor<double, tn::shape<3>>;
#else
using target = tn::tensor<double, tn::shape<3>>;
#endif

void f(target& x, const tn::tensor<bool, tn::shape<3>>& mask) { x.where_(mask, 0); }
