// SPDX-License-Identifier: BSL-1.0
// expect: tenure: stack: operands have different ranks
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using other = tn::tensor<float, tn::shape<1, 3>>;
#else
using other = tn::tensor<float, tn::shape<3>>;
#endif

void f(const tn::tensor<float, tn::shape<3>>& x, const other& y) { tn::tensor z = stack<0>(x, y); }
