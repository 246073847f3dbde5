// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator..: it reads one element: a row, a column or a range is x.at.tn::all, i.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<double, tn::shape<tn::dyn, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(x(tn::all, 1) * 2);
#else
  return tn::eval(x.at(tn::all, 1) * 2);
#endif
}
