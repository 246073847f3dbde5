// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: numbers and pointers are no functions to trace: give a lambda, ...auto x. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto three = tn::compile(3);
#else
constexpr auto three = tn::compile([](auto x) { return x * 0 + 3; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return three(x); }
