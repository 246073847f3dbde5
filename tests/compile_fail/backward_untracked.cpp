// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: no operand is tracked
// P33 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<1>>;
#else
using vector = tn::variable<double, tn::shape<1>>;
#endif

void f(const vector& x) { sum(x).backward(); }
