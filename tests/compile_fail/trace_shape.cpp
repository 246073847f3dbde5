// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the extent of this axis is known only when the program runs: tn::extent<A> is a traced number, or scan over the axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return sum(x) / static_cast<double>(x.shape()[0]); });
#else
constexpr auto f = tn::compile([](auto x) { return sum(x) / static_cast<double>(x.shape().rank); });
#endif

auto g(const tn::tensor<double, tn::shape<tn::dyn, 3>>& x) { return f(x); }
