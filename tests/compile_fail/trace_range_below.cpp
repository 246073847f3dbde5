// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies before 0 or after the last
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t last = -1;
#else
constexpr std::int64_t last = 1;
#endif
constexpr auto g = [](auto x) { return sum(x[tn::range(0, last)]); };

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x) { return tn::compile(g)(x); }
