// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the function returns nothing
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::grad([](auto x) { sum(x); });
#else
constexpr auto f = tn::grad([](auto x) { return sum(x); });
#endif

void g(const tn::tensor<double, tn::shape<3>>& x) { f(x); }
