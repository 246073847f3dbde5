// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator\(\): an index is floating: indices are integers, and tn::cast<std::int64_t>\(i\) makes one of a traced number
#include <tenure/tenure.hpp>
namespace tn = tenure;
float f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return x(1.0);
#else
  return x(1);
#endif
}
