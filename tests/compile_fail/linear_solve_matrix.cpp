// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear_solve: it takes two functions and gives a function: write linear_solve.apply, solver..b., or tn::solve.a, b. with a matrix a
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::linear_solve(a, b); });
#else
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::solve(a, b); });
#endif

auto f(const tn::tensor<double, tn::shape<3, 3>>& a, const tn::tensor<double, tn::shape<3>>& b) { return solved(a, b); }
