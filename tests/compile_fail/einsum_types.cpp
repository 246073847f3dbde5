// SPDX-License-Identifier: BSL-1.0
// expect: tenure: einsum: operands have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = float;
#else
using element = double;
#endif

auto f(const tn::tensor<element, tn::shape<2, 3>>& a, const tn::tensor<double, tn::shape<3, 4>>& b) { return tn::eval(tn::einsum<"ij,jk->ik">(a, b)); }
