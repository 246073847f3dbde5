// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diagonal: the offset lies outside the matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3, 4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::diagonal<5>(x));
#else
  return tn::eval(tn::diagonal<3>(x));
#endif
}
