// SPDX-License-Identifier: BSL-1.0
// expect: tenure: normal: only floating-point elements have a normal distribution
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = int;
#else
using element = float;
#endif

auto f(tn::engine& random) { return tn::normal<element>(tn::shape<3>{}, random); }
