// SPDX-License-Identifier: BSL-1.0
// lines: 17
// expect: tenure: begin: a traced value is not a range
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = [](auto x) { auto s = sum(x); for (auto e : x) s = s + sum(e); return s; };
#else
  auto g = [](auto x) { auto s = sum(x); for (int i = 0; i < 3; ++i) s = s + x[i]; return s; };
#endif
  return tn::grad(g)(x);
}
