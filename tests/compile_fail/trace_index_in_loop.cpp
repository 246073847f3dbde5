// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto differences = tn::grad([](auto x) {
#ifdef TENURE_MISUSE
  auto y = x[0] * 0;
  for (int i = 0; i < 3; ++i) y = y + square(x[i + 1] - x[i]);
#else
  auto y = x[0] * 0;
  for (int i = 0; i < 2; ++i) y = y + square(x[i + 1] - x[i]);
#endif
  return y;
});

auto f(const tn::tensor<double, tn::shape<3>>& x) { return differences(x); }
