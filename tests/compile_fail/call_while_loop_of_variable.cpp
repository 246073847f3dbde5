// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: no reverse mode through while_loop without a bound, or fori_loop with a traced number of turns; give the bound tn::at_most<N>, or use scan, or jvp
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loop = tn::compile([](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * 2.0; }, x); });

#ifdef TENURE_MISUSE
auto f(const tn::variable<double, tn::shape<3>>& w) { return loop(w); }
#else
auto f(const tn::variable<double, tn::shape<3>>& w) { return loop(w.detach()); }
#endif
