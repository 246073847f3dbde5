// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: the last extent of lhs
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using lhs = tn::tensor<float, tn::shape<3>>;
#else
using lhs = tn::tensor<float, tn::shape<2>>;
#endif

auto f(const lhs& x, const tn::tensor<float, tn::shape<2, 3>>& y) { return tn::eval(matmul(x, y)); }
