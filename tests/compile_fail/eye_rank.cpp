// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eye: the shape does not have two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using square = tn::shape<3>;
#else
using square = tn::shape<3, 3>;
#endif

auto f() { return tn::eye(square{}); }
