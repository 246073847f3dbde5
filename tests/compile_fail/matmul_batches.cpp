// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: the batch extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<2, 4, 3>>;
#else
using rhs = tn::tensor<float, tn::shape<3, 4, 3>>;
#endif

auto f(const tn::tensor<float, tn::shape<3, 3, 4>>& a, const rhs& b) { return tn::eval(matmul(a, b)); }
