// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear_solve: the solver does not take the function of x and the right-hand side: ...auto a, auto b. . return tn::cg.a, b.; .
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto apply = [](auto x) { return 2.0 * x; };
#ifdef TENURE_MISUSE
constexpr auto solver = [](auto b) { return b; };
#else
constexpr auto solver = [](auto a, auto b) { return tn::cg(a, b); };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& b) { return tn::linear_solve(apply, solver)(b); }
