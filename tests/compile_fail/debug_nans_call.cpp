// SPDX-License-Identifier: BSL-1.0
// expect: tenure: debug_nans: it takes a function and gives a function: write debug_nans.f..x.
#include <tenure/debug_nans.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) { return sum(exp(x)); };

auto g(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::debug_nans(f, x);
#else
  return tn::debug_nans(f)(x);
#endif
}
