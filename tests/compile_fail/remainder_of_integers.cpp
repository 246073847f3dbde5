// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator%: there is no remainder of integers: cast<double>.. both
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<std::int64_t, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return x % 2;
#else
  const auto a = tn::cast<double>(x);
  return tn::eval(tn::cast<std::int64_t>(a - floor(a / 2) * 2));
#endif
}
