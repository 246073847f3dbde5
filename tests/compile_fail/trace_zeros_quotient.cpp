// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: an extent is no integer, as n / 2 is none in a trace: half of an extent n is tn::floor_divide.n, 2.
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto g = [](auto x) {
  auto n = tn::extent<0>(x);
#ifdef TENURE_MISUSE
  return tn::zeros<double>(tn::shape<tn::dyn>{}, n / 2);
#else
  return tn::zeros<double>(tn::shape<tn::dyn>{}, tn::floor_divide(n, 2));
#endif
};

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x) { return tn::compile(g)(x); }
