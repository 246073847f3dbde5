// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a traced variable keeps its element type and shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
#ifdef TENURE_MISUSE
  auto y = x;
  y = sum(x);
  return y;
#else
  auto y = sum(x);
  return y;
#endif
});

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
