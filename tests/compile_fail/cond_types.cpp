// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cond: the branches return different element types, shapes or trees
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto other = [](auto x) { return tn::sum(x); };
#else
constexpr auto other = [](auto x) { return -x; };
#endif

constexpr auto f = tn::compile([](auto flag, auto x) { return tn::cond(flag, [](auto x) { return x * 2.0; }, other, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(true, x); }
