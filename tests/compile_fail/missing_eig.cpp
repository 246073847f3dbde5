// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eig: there is none, because there are no complex numbers: a symmetric matrix has eigh.a., and eigvalsh.a. for the values alone
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eig(x);
#else
  return tn::eigh(x);
#endif
}
