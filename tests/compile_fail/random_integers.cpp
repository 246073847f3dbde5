// SPDX-License-Identifier: BSL-1.0
// expect: tenure: uniform: only floating-point elements have a uniform distribution
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = int;
#else
using element = float;
#endif

auto f(tn::engine& random) { return tn::uniform<element>(tn::shape<3>{}, random); }
