// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: the function does not take these arguments: their number or their types do not fit
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto gradient = tn::grad([](auto x) { return sum(x * x); });

auto f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return gradient(x, x);
#else
  return gradient(x);
#endif
}
