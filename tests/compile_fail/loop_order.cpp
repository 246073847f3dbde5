// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: a value stands in the place of a function: scan.f, init, xs., fori_loop.n, f, init., while_loop.condition, f, init., cond.flag, f, g, x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto loop = [](auto goes_on, auto iteration, auto x) { return tn::while_loop(x, goes_on, iteration); };
#else
constexpr auto loop = [](auto goes_on, auto iteration, auto x) { return tn::while_loop(goes_on, iteration, x); };
#endif

constexpr auto f = tn::compile([](auto x) { return loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * 2.0; }, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
