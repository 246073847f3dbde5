// SPDX-License-Identifier: BSL-1.0
// expect: tenure: clamp_max: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<float, tn::shape<2>>;
#else
using vector = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const vector& x, const tn::tensor<float, tn::shape<3>>& y) { return tn::eval(clamp_max(x, y)); }
