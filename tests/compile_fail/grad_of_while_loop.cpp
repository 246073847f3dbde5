// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: no reverse mode through while_loop without a bound, or fori_loop with a traced number of turns; give the bound tn::at_most<N>, or use scan, or jvp
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto loop = [](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * 2.0; }, x); };
#else
constexpr auto loop = [](auto x) { return tn::fori_loop(3, [](auto, auto c) { return c * 2.0; }, x); };
#endif

constexpr auto f = tn::grad([](auto x) { return tn::sum(loop(x)); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
