// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: no argument is mapped
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::vmap<tn::unmapped, tn::unmapped>([](auto x, auto w) { return x * w; });
#else
constexpr auto f = tn::vmap<0, tn::unmapped>([](auto x, auto w) { return x * w; });
#endif

auto g(const tn::tensor<double, tn::shape<4, 3>>& x, const tn::tensor<double, tn::shape<3>>& w) { return f(x, w); }
