// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the extent of this axis is known only when the program runs: tn::extent<A> is a traced number, or scan over the axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto trip_count = [](auto x, auto) { return x.extent(0); };
#else
constexpr auto trip_count = [](auto, auto n) { return n; };
#endif
constexpr auto f = tn::compile([](auto x, auto n) { return tn::fori_loop(trip_count(x, n), [](auto, auto c) { return c + 1.0; }, sum(x)); });

auto g(const tn::tensor<double, tn::shape<tn::dyn>>& x, int n) { return f(x, n); }
