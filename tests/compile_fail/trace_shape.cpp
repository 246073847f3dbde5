// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add: the extents differ and neither of them is 1
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<2>>;
#else
using rhs = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const rhs& y) { return tn::compile([](auto a, auto b) { return a + b; })(x, y); }
