// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: only floating-point elements have a gradient
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int32_t;
#else
using element = float;
#endif

tn::variable<element, tn::shape<3>> w;
