// SPDX-License-Identifier: BSL-1.0
// expect: K. is not captured|variable .K. cannot be implicitly captured
// lines: 24
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  constexpr double K = 2.5;
#else
  static constexpr double K = 2.5;
#endif
  return tn::compile([](auto v) { return v - K; })(x);
}
