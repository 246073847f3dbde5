// SPDX-License-Identifier: BSL-1.0
// expect: tenure: slice: axis, first and length are template arguments: slice<0, 1, 2>\(x\) has x\[1\], x\[2\]. positions of the run are x.at\(tn::range\(i, j\)\) and dynamic_slice\(x, i, lengths\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<5>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::slice(x, 0, 3));
#else
  return tn::eval(tn::slice<0, 0, 3>(x));
#endif
}
