// SPDX-License-Identifier: BSL-1.0
// expect: tenure: masked_fill_: the value is not a number or a scalar: write x.where_..mask, y. for a tensor y
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::tensor<bool, tn::shape<3>>& mask, const tn::tensor<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  x.masked_fill_(mask, y);
#else
  x.where_(!mask, y);
#endif
}
