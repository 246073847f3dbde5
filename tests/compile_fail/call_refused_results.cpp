// SPDX-License-Identifier: BSL-1.0
// A refused call has as many results as the function gives, so a structured binding of them adds no message.
// expect: tenure: call: the function does not take these arguments: their number or their types do not fit
// lines: 12
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto slopes = tn::value_and_grad<0>([](auto x, auto y) { return sum(x * y); });

double f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  const auto [value, slope] = slopes(x);
#else
  const auto [value, slope] = slopes(x, x);
#endif
  return value.item() + slope(0);
}
