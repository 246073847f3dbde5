// SPDX-License-Identifier: BSL-1.0
// expect: tenure: einsum: the text is letters for at most four operands, commas and an arrow, as ij,jk->ik
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr tn::einsum_text text{"i1,1k->ik"};
#else
constexpr tn::einsum_text text{"ij,jk->ik"};
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& a, const tn::tensor<double, tn::shape<3, 4>>& b) { return tn::eval(tn::einsum<text>(a, b)); }
