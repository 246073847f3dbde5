// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: the result is an integer, the target holds bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int32_t;
#else
using element = bool;
#endif

void f(tn::tensor<bool, tn::shape<2>>& x, const tn::tensor<element, tn::shape<2>>& y) { x += y; }
