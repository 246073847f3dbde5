// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: needs the arguments of the function, then a tangent for each chosen one
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto push = tn::jvp<0>([](auto x) { return x * x; });

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<3>>& x) { return push(x); }
#else
auto f(const tn::tensor<double, tn::shape<3>>& x) { return push(x, x); }
#endif
