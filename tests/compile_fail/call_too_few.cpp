// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: the function does not take these arguments: their number or their types do not fit
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto add = tn::compile([](auto x, auto y) { return x + y; });

auto f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return add(x);
#else
  return add(x, x);
#endif
}
