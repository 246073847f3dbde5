// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: the function returns integers or bool, which have no tangent
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto push = tn::jvp([](auto x) { return x > 0; });
#else
constexpr auto push = tn::jvp([](auto x) { return x * x; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return push(x, x); }
