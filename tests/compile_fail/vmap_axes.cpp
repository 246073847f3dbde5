// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: give an axis for each argument, tn::unmapped for what all samples share, or no axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::vmap<0>([](auto x, auto w) { return x * w; });
#else
constexpr auto f = tn::vmap<0, tn::unmapped>([](auto x, auto w) { return x * w; });
#endif

auto g(const tn::tensor<double, tn::shape<4, 3>>& x, const tn::tensor<double, tn::shape<3>>& w) { return f(x, w); }
