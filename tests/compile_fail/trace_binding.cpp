// SPDX-License-Identifier: BSL-1.0
// expect: tenure: auto .a, b.: there is one value here: topk gives elements and argtopk positions, value_and_grad gives a pair, rows are x.0., x.1.
// lines: 30
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto total = tn::compile([](auto x) {
#ifdef TENURE_MISUSE
  auto [v, i] = sort(x);
#else
  auto v = sort(x);
  auto i = argsort(x);
#endif
  return v * i;
});

auto f(const tn::tensor<float, tn::shape<8>>& x) { return total(x); }
