// SPDX-License-Identifier: BSL-1.0
// expect: tenure: einsum: bool has no product; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = double;
#endif

auto f(const tn::tensor<element, tn::shape<2, 3>>& a, const tn::tensor<element, tn::shape<3, 4>>& b) { return tn::eval(tn::einsum<"ij,jk->ik">(a, b)); }
