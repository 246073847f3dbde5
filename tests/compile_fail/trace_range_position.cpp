// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: in a trace the last index is tn::extent<A>.x. or a number
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto g = [](auto x, auto n) { return sum(x[tn::range(1, n)]); };
#else
constexpr auto g = [](auto x, auto n) { return sum(x[tn::range(1, tn::extent<0>(x))]) + n; };
#endif

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x, std::int64_t n) { return tn::compile(g)(x, n); }
