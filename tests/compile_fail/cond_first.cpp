// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cond: the first branch does not take the values after the branches: cond.flag, f, g, x, y. calls f.x, y.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto twice = [](auto x) { return x * 2.0; };
#else
constexpr auto twice = [](auto x, auto) { return x * 2.0; };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<double, tn::shape<3>>& w) { return tn::cond(x(0) > 0, twice, [](auto x, auto w) { return x * w; }, x, w); }
