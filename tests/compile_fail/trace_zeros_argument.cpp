// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: in a trace an extent is tn::extent<A>.x. or a number, also plus, minus or times a number, or its floor_divide by one
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto g = [](auto x, auto n) { return tn::zeros<double>(tn::shape<tn::dyn>{}, n) + sum(x); };
#else
constexpr auto g = [](auto x, auto n) { return tn::zeros<double>(tn::shape<tn::dyn>{}, tn::extent<0>(x)) + n; };
#endif

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x, std::int64_t n) { return tn::compile(g)(x, n); }
