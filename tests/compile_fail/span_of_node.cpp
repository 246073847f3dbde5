// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_span: the tensor is tracked: detach
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x) {
  auto y = x.clone();
#ifdef TENURE_MISUSE
  tn::as_span(y)[0] = 1;
#else
  auto cut = y.detach();
  tn::as_span(cut)[0] = 1;
#endif
}
