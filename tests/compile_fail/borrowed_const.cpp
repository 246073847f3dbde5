// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul_: the tensor is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = const float;
#else
using element = float;
#endif

void f(element* memory) { tn::from<tn::shape<3>>(memory).mul_(2); }
