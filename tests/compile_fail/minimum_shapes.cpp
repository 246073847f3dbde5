// SPDX-License-Identifier: BSL-1.0
// expect: tenure: minimum: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using bound = tn::tensor<float, tn::shape<2>>;
#else
using bound = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const bound& y) { return tn::eval(minimum(x, y)); }
