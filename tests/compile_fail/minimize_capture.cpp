// SPDX-License-Identifier: BSL-1.0
// expect: tenure: minimize: the function captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<double, tn::shape<2>>& x, const tn::tensor<double, tn::shape<2>>& y) {
#ifdef TENURE_MISUSE
  return tn::minimize([&](auto a) { return sum(square(a - y)); })(x);
#else
  return tn::minimize([](auto a, auto b) { return sum(square(a - b)); })(x, y);
#endif
}
