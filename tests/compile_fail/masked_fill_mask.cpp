// SPDX-License-Identifier: BSL-1.0
// expect: tenure: masked_fill_, where_: the mask is not a tensor or an expression of bool: write x > 0, or cast<bool>.mask.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using mask = tn::tensor<int, tn::shape<3>>;
#else
using mask = tn::tensor<bool, tn::shape<3>>;
#endif

void f(tn::tensor<double, tn::shape<3>>& x, const mask& m) { x.masked_fill_(m, 0); }
