// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: fewer than three arguments: queries, keys and values; write attention\(q, k, v\), and attention\(x, x, x\) of one tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<5, 4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(x, x));
#else
  return tn::eval(tn::attention(x, x, x));
#endif
}
