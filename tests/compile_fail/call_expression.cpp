// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is an expression that is not computed yet: pass tn::eval.. of it
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

auto f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return twice(x + 1);
#else
  return twice(tn::eval(x + 1));
#endif
}
