// SPDX-License-Identifier: BSL-1.0
// expect: tenure: norm: the power stands in angle brackets: norm<1>.x.
// lines: 9
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return norm(x, 1).item();
#else
  return norm<1>(x).item();
#endif
}
