// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: the last extent of lhs
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<2>>;
#else
using rhs = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<4, 3>>& x, const rhs& y) { return tn::compile([](auto a, auto b) { return matmul(a, b); })(x, y); }
