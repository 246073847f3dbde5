// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: more than one element
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using values = tn::variable<float, tn::shape<1, 2>>;
#else
using values = tn::variable<float, tn::shape<1, 1>>;
#endif

void f(const values& x) { (x * 2).backward(); }
