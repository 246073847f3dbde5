// SPDX-License-Identifier: BSL-1.0
// expect: tenure: normal, uniform: the numbers come from a key
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
int g = 42;
#else
tn::engine g(42);
#endif

auto f() { return tn::uniform(tn::shape<3>{}, g, -1.0, 1.0); }
