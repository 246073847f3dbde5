// SPDX-License-Identifier: BSL-1.0
// expect: tenure: logical_or: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using mask = tn::tensor<bool, tn::shape<2>>;
#else
using mask = tn::tensor<bool, tn::shape<3>>;
#endif

auto f(const tn::tensor<bool, tn::shape<2, 3>>& x, const mask& y) { return tn::eval(x || y); }
