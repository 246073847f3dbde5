// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fmod, remainder, floor_divide: bool has no quotient
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = std::int32_t;
#endif

auto f(const tn::tensor<element, tn::shape<2>>& x) { return x % x; }
