// SPDX-License-Identifier: BSL-1.0
// expect: tenure: permute: the number of axes differs from the rank of the tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::permute<0>(x));
#else
  return tn::eval(tn::permute<1, 0>(x));
#endif
}
