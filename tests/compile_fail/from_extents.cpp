// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: one integer is needed for each run-time extent, and at most a deleter after them
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(float* memory) {
#ifdef TENURE_MISUSE
  return tn::from<tn::shape<tn::dyn, 3>>(memory).clone();
#else
  return tn::from<tn::shape<tn::dyn, 3>>(memory, 4).clone();
#endif
 }
