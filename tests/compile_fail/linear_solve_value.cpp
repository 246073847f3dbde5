// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear_solve: the solver returns another element type or shape than the right-hand side has
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto apply = [](auto x) { return 2.0 * x; };
#ifdef TENURE_MISUSE
constexpr auto solver = [](auto a, auto b) { return tn::sum(tn::cg(a, b)); };
#else
constexpr auto solver = [](auto a, auto b) { return tn::cg(a, b); };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& b) { return tn::linear_solve(apply, solver)(b); }
