// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operation: an operand is neither a tensor nor a number: tn::from.v. is a tensor over a vector, an array or a span
#include <tenure/tenure.hpp>
#include <array>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

auto f(const std::array<double, 3>& x) {
#ifdef TENURE_MISUSE
  return twice(x);
#else
  return twice(tn::from(x));
#endif
}
