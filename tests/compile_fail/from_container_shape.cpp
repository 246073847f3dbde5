// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: a container has one axis
#include <tenure/tenure.hpp>

#include <vector>
namespace tn = tenure;

auto f(std::vector<float>& values) {
#ifdef TENURE_MISUSE
  return tn::from<tn::shape<2, 3>>(values).clone();
#else
  return tn::from(values).reshape<2, 3>().clone();
#endif
}
