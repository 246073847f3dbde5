// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: in a trace a range has constant bounds
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto g = [](auto x) { return sum(x[tn::range(0, 2)]); };
#else
constexpr auto g = [](auto x) { return sum(x[tn::range<0, 2>()]); };
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::compile(g)(x); }
