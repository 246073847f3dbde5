// SPDX-License-Identifier: BSL-1.0
// expect: tenure: profile: it takes a function and gives a function: write profile.f..x.
#include <tenure/profile.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) { return sum(exp(x)); };

auto g(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::profile(f, x);
#else
  return tn::profile(f)(x);
#endif
}
