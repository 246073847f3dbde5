// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: the tensor is read-only
// P28 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = const double;
#else
using element = double;
#endif

void f(std::span<element> memory) {
  auto t = tn::from(memory);
  t[0] = 5.0;
}
