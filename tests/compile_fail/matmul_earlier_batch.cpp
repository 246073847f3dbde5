// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: the batch extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rhs = tn::tensor<float, tn::shape<3, 5, 4, 6>>;
#else
using rhs = tn::tensor<float, tn::shape<2, 5, 4, 6>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 5, 3, 4>>& x, const rhs& y) { return tn::eval(matmul(x, y)); }
