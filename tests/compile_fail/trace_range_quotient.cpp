// SPDX-License-Identifier: BSL-1.0
// expect: tenure: range: the last index is floating, as n / 2 is: half of an extent n is tn::floor_divide.n, 2.
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto g = [](auto x) {
  auto n = tn::extent<0>(x);
#ifdef TENURE_MISUSE
  return sum(x[tn::range(0, n / 2)]);
#else
  return sum(x[tn::range(0, tn::floor_divide(n, 2))]);
#endif
};

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x) { return tn::compile(g)(x); }
