// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: an operand is a scalar
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<>>;
#else
using rhs = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const rhs& b) { return matmul(a, b); }
