// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_numbers: the function returns nothing
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::as_numbers([](const auto& p) {
#ifdef TENURE_MISUSE
  p[0] * 2.0;
#else
  return p[0] * 2.0;
#endif
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
