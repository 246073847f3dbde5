// SPDX-License-Identifier: BSL-1.0
// expect: tenure: concat: extents beside the joined axis differ
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using third = tn::tensor<float, tn::shape<7, 4>>;
#else
using third = tn::tensor<float, tn::shape<7, 3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const third& y) { return tn::eval(tn::concat<0>(x, x, y)); }
