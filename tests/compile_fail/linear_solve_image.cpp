// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear_solve: apply returns another element type or shape than the right-hand side has: it takes x and the arguments after b, and returns A x
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto apply = [](auto x, auto d) { return tn::sum(d * x); };
#else
constexpr auto apply = [](auto x, auto d) { return d * x; };
#endif
constexpr auto solver = [](auto a, auto b) { return tn::cg(a, b); };

auto f(const tn::tensor<double, tn::shape<3>>& b, const tn::tensor<double, tn::shape<3>>& d) { return tn::linear_solve(apply, solver)(b, d); }
