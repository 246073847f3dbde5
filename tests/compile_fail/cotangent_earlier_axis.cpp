// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: the cotangent has another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using cotangent = tn::tensor<float, tn::shape<5, 3>>;
#else
using cotangent = tn::tensor<float, tn::shape<2, 3>>;
#endif

void f(const tn::variable<float, tn::shape<2, 3>>& x, const cotangent& c) { (x * 2).backward(c); }
