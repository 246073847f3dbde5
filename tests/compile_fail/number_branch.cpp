// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: cannot branch on a number of a trace, which is not known yet: where.condition, a, b., max.a, b. and min.a, b. compute both sides and choose
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

template <class T>
constexpr T larger(const std::array<T, 2>& p) {
  using std::max;
#ifdef TENURE_MISUSE
  if (p[0] < p[1]) return p[1];
  return p[0];
#else
  return max(p[0], p[1]);
#endif
}

auto f(const tn::tensor<double, tn::shape<2>>& x) { return tn::as_numbers([](const auto& p) { return larger(p); })(x); }
