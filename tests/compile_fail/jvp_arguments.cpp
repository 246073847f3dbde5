// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: needs the arguments of the function, then a tangent for each
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto push = tn::jvp([](auto x, auto y) { return x * y; });

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<3>>& x) { return push(x, x, x); }
#else
auto f(const tn::tensor<double, tn::shape<3>>& x) { return push(x, x, x, x); }
#endif
