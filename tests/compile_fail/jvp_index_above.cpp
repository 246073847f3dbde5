// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: there is no argument of that number
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x, auto y) { return x * y; };

#ifdef TENURE_MISUSE
constexpr auto push = tn::jvp<2>(f);
#else
constexpr auto push = tn::jvp<1>(f);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return push(x, x, x); }
