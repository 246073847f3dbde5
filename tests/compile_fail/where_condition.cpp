// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where: the condition must be bool: write x > 0, or cast<bool>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = float;
#else
using element = bool;
#endif

auto f(const tn::tensor<element, tn::shape<2>>& c, const tn::tensor<double, tn::shape<2>>& x) { return where(c, x, x); }
