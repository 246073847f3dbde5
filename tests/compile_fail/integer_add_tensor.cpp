// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result is floating, the target holds integers
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = float;
#else
using element = std::int32_t;
#endif

void f(tn::tensor<std::int32_t, tn::shape<2>>& x, const tn::tensor<element, tn::shape<2>>& y) { x += y; }
