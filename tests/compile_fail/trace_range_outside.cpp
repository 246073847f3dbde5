// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t last = 5;
#else
constexpr std::int64_t last = 4;
#endif
constexpr auto g = [](auto x) { return sum(x[tn::range(1, last)]); };

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::compile(g)(x); }
