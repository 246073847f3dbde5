// SPDX-License-Identifier: BSL-1.0
// expect: tenure: detach_: a view cannot be detached in place: call detach
// P45 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<2>>& x) {
  auto y = x[tn::range(0, 1)];
#ifdef TENURE_MISUSE
  std::move(y).detach_();
#else
  auto cut = y.detach();
#endif
}
