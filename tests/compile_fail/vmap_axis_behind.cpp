// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: it takes a function and gives a function: .*along axis 1 vmap<1>.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto v) { return exp(v); };

auto g(const tn::tensor<double, tn::shape<3, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::vmap(f, 1)(x);
#else
  return tn::vmap<1>(f)(x);
#endif
}
