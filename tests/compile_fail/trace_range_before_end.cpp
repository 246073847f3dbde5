// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the first index lies before 0 or after the last
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int dropped = 5;
#else
constexpr int dropped = 3;
#endif
constexpr auto g = [](auto x) { return sum(x[tn::range(0, tn::end - dropped)]); };

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::compile(g)(x); }
