// SPDX-License-Identifier: BSL-1.0
// expect: tenure: in-place: a quotient is floating, the target holds integers
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int64_t;
#else
using element = float;
#endif

void f(tn::tensor<element, tn::shape<2>>& x) { x.div_(2); }
