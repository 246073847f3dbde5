// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cond: the second branch does not take the values after the branches: cond.flag, f, g, x, y. calls g.x, y.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto other = [](auto x) { return -x; };
#else
constexpr auto other = [] { return 1.0; };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::cond(tn::sum(x) > 0.0, [=] { return tn::sum(x); }, other); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
