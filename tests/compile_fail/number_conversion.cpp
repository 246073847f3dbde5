// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a number of a trace is not known yet: compute with it as it is, its type is T
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::as_numbers([]<class T>(const std::array<T, 2>& p) {
#ifdef TENURE_MISUSE
  return p[0] * static_cast<double>(p[1]);
#else
  return p[0] * static_cast<T>(p[1]);
#endif
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
