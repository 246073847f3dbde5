// SPDX-License-Identifier: BSL-1.0
// expect: tenure: while_loop: the function takes one argument, the carry: ...auto carry. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr double iteration = 2.0;
#else
constexpr auto iteration = [](auto x) { return x * 2.0; };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, iteration, x, tn::at_most<4>); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
