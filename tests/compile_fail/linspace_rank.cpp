// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linspace: the shape does not have one axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using line = tn::shape<3, 3>;
#else
using line = tn::shape<3>;
#endif

auto f() { return tn::linspace(line{}, 0.0, 1.0); }
