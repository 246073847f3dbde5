// SPDX-License-Identifier: BSL-1.0
// expect: tenure: gammaincc: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<4>>;
#else
using rhs = tn::tensor<float, tn::shape<3>>;
#endif

auto f(const tn::tensor<float, tn::shape<3>>& x, const rhs& y) { return tn::eval(gammaincc(x, y)); }
