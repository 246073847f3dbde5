// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: there is no argument of that number
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int last = 2;
#else
constexpr int last = 1;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::grad<last>([](auto a, auto b) { return sum(a * b); })(x, x); }
