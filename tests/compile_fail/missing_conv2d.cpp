// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv2d: there is none: a product of windows<3, K>.windows<2, K>.x.. with the taps, or a sum of slices if the taps are few
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<1, 2, 8, 8>>& x, const tn::tensor<float, tn::shape<4, 2, 3, 3>>& taps) {
#ifdef TENURE_MISUSE
  return tn::conv2d(x, taps);
#else
  return tn::eval(tn::einsum<"ncyxij,ocij->noyx">(tn::windows<3, 3>(tn::windows<2, 3>(x)), taps));
#endif
}
