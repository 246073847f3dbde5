// SPDX-License-Identifier: BSL-1.0
// expect: tenure: neg: bool has no negative; use ! or convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = float;
#endif

auto f(const tn::tensor<element, tn::shape<3>>& x) { return tn::eval(-x); }
