// SPDX-License-Identifier: BSL-1.0
// expect: tenure: root: it takes two functions and gives a function: write root.residual, solver..x., and begin with the first guess in the solver
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto solver = 1.0;
#else
constexpr auto solver = [](auto a) { return sqrt(a); };
#endif

void f() { auto g = tn::root([](auto z, auto a) { return z * z - a; }, solver); }
