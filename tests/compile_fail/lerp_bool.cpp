// SPDX-License-Identifier: BSL-1.0
// expect: tenure: lerp: bool has no subtraction; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using from = bool;
#else
using from = int;
#endif

auto f(const tn::tensor<from, tn::shape<3>>& x, const tn::tensor<bool, tn::shape<3>>& y) { return tn::eval(lerp(x, y, 0.5)); }
