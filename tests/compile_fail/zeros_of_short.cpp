// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the element type is not bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f() {
#ifdef TENURE_MISUSE
  return tn::zeros<short>(tn::shape<3>{});
#else
  return tn::zeros<int>(tn::shape<3>{});
#endif
}
