// SPDX-License-Identifier: BSL-1.0
// expect: tenure: stack: operands have different shapes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<3, 3>>;
#else
using rhs = tn::tensor<float, tn::shape<2, 3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const rhs& y) { return tn::eval(tn::stack<2>(x, y)); }
