// SPDX-License-Identifier: BSL-1.0
// expect: tenure: einsum: an operand has another number of axes than its letters
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr tn::einsum_text text{"ijk,kl->ijl"};
#else
constexpr tn::einsum_text text{"ij,jk->ik"};
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const tn::tensor<double, tn::shape<3, 4>>& b) { return tn::eval(tn::einsum<text>(a, b)); }
