// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the deleter is called without an argument
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(float* memory) {
#ifdef TENURE_MISUSE
  auto x = tn::from<tn::shape<3>>(memory, [](float* p) { delete[] p; });
#else
  auto x = tn::from<tn::shape<3>>(memory, [memory] { delete[] memory; });
#endif
  return x(0);
}
