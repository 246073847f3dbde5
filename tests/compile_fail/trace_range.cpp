// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: in a trace the first index is a number
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto g = [](auto x, auto i) { return sum(x[tn::range(i, i + 2)]); };
#else
constexpr auto g = [](auto x, auto i) { return sum(x[tn::window<2>(i)]); };
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x, std::int64_t i) { return tn::compile(g)(x, i); }
