// SPDX-License-Identifier: BSL-1.0
// expect: tenure: add_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<2, 3>>& x) {
  auto row = tn::no_grad([](auto v) { return v[0]; }, x);
#ifdef TENURE_MISUSE
  row.add_(1);
#else
  row.clone().add_(1);
#endif
}
