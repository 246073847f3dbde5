// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result is floating, the target holds integers
// P56 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<std::int64_t, tn::shape<2>>& x) {
#ifdef TENURE_MISUSE
  x.add_(1.5);
#else
  x.add_(1);
#endif
}
