// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_span: the tensor is tracked: detach
// P26 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<2>>& x) {
#ifdef TENURE_MISUSE
  auto s = tn::as_span(x);
#else
  auto alias = x.detach();
  auto s = tn::as_span(alias);
#endif
  s[0] = 1;
}
