// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: no second reverse mode through while_loop without a bound, or fori_loop with a traced number of turns; use jvp or hessian, or give the bound tn::at_most<N>
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x) { return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * c; }, x)); };
constexpr auto slope = tn::compile([](auto x) { return tn::grad(loss)(x) * 2.0; });

#ifdef TENURE_MISUSE
auto f(const tn::variable<double, tn::shape<3>>& w) { return slope(w); }
#else
auto f(const tn::variable<double, tn::shape<3>>& w) { return slope(w.detach()); }
#endif
