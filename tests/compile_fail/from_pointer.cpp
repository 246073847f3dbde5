// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: a pointer does not contain the shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(float* memory) {
#ifdef TENURE_MISUSE
  return tn::from(memory, 3).clone();
#else
  return tn::from<tn::shape<tn::dyn>>(memory, 3).clone();
#endif
}
