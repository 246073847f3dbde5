// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the function returns nothing
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { x + 1; });
#else
constexpr auto f = tn::compile([](auto x) { return x + 1; });
#endif

void g(const tn::tensor<double, tn::shape<3>>& x) { f(x); }
