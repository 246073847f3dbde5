// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is read-only
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto a) { return a * 2; });

#ifdef TENURE_MISUSE
using matrix = const tn::tensor<double, tn::shape<2, 3>>;
#else
using matrix = tn::tensor<double, tn::shape<2, 3>>;
#endif

void f(const tn::tensor<double, tn::shape<3>>& x, matrix& y) { twice.into(y[1])(x); }
