// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: numbers and pointers are no functions to trace: give a lambda, ...auto x. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::traced<double, tn::shape<3>>;
constexpr vector twice(vector x) { return x + x; }

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile(twice);
#else
constexpr auto f = tn::compile([](auto x) { return twice(x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
