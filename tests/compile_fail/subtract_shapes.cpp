// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sub: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<float, tn::shape<9>>;
#else
using target = tn::tensor<float, tn::shape<8>>;
#endif

auto f(const tn::tensor<float, tn::shape<8>>& x, const target& y) { return sum(x - y); }
