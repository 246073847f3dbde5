// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: an argument has no such axis: a number that all samples share is tn::unmapped
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::vmap([](auto x, auto k) { return x * k; });
#else
constexpr auto f = tn::vmap<0, tn::unmapped>([](auto x, auto k) { return x * k; });
#endif

auto g(const tn::tensor<double, tn::shape<4, 3>>& x) { return f(x, 2.0); }
