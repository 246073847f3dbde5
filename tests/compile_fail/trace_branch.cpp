// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: cannot branch on a traced value
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto positive = [](auto x) {
#ifdef TENURE_MISUSE
  if (sum(x) > 0) return x;
  return -x;
#else
  return where(sum(x) > 0, x, -x);
#endif
};

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::compile(positive)(x); }
