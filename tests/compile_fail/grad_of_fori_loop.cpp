// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: no reverse mode through while_loop without a bound, or fori_loop with a traced number of turns; give the bound tn::at_most<N>, or use scan, or jvp
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto turns = [](auto n) { return n; };
#else
constexpr auto turns = [](auto) { return 3; };
#endif
constexpr auto f = tn::grad([](auto x, auto n) { return tn::fori_loop(turns(n), [](auto, auto c) { return c * 2.0; }, x); });

auto g(double x, int n) { return f(x, n); }
