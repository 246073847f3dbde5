// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: the last extent of lhs
// P58 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<double, tn::shape<2, 3>>;
#else
using rhs = tn::tensor<double, tn::shape<3, 2>>;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const rhs& b) { return matmul(a, b); }
