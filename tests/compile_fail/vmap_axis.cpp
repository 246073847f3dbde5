// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: an argument has no such axis: a number that all samples share is tn::unmapped
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::vmap<2>([](auto x) { return tn::sum(x); });
#else
constexpr auto f = tn::vmap<-2>([](auto x) { return tn::sum(x); });
#endif

auto g(const tn::tensor<double, tn::shape<4, 3>>& x) { return f(x); }
