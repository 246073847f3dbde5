// SPDX-License-Identifier: BSL-1.0
// expect: tenure: write: the source is neither a tensor nor a number
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<3>>& x, std::vector<float>& memory) {
#ifdef TENURE_MISUSE
  x += memory;
#else
  x += tn::from(memory);
#endif
}
