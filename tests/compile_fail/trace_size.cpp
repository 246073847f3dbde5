// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the extent of this axis is known only when the program runs: tn::extent<A> is a traced number
#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto g = [](auto x) {
#ifdef TENURE_MISUSE
  return sum(x) / x.size();
#else
  return sum(x) / tn::extent<0>(x);
#endif
};

auto f(const tn::tensor<float, tn::shape<tn::dyn>>& x) { return tn::compile(g)(x); }
