// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target must own its memory and carry no gradient
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::variable<double, tn::shape<3>>;
#else
using target = tn::tensor<double, tn::shape<3>>;
#endif

void f(const tn::tensor<double, tn::shape<3>>& x, target& y) { tn::compile([](auto a) { return a * 2; }).into(y)(x); }
