// SPDX-License-Identifier: BSL-1.0
// expect: tenure: concat: only the last operand may have a run-time extent along the joined axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using first = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using first = tn::tensor<float, tn::shape<2>>;
#endif

auto f(const first& x, const tn::tensor<float, tn::shape<tn::dyn>>& y) { return tn::eval(tn::concat<0>(x, y)); }
