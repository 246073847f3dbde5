// SPDX-License-Identifier: BSL-1.0
// expect: tenure: amax, amin, argmax, argmin, max, min: the axis is empty: an extent of Shape is 0; write a first element in front, as in amax\(concat<0>\(first, x\)\)
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using none = tn::tensor<float, tn::shape<0>>;
#else
using none = tn::tensor<float, tn::shape<1>>;
#endif

auto f(const none& x) { return tn::eval(amax(x)); }
