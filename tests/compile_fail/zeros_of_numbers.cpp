// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: the shape is a type and comes first
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f() {
#ifdef TENURE_MISUSE
  return tn::zeros<float>(3, 3);
#else
  return tn::zeros<float>(tn::shape<3, 3>{});
#endif
}
