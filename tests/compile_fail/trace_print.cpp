// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator<<: a traced value has no elements yet: print what the function returns
#include <tenure/tenure.hpp>
#include <iostream>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { std::cout << x; return sum(x); });
#else
constexpr auto f = tn::compile([](auto x) { return sum(x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
