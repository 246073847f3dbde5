// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: the function must return a single number
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x) {
#ifdef TENURE_MISUSE
  return x * x;
#else
  return sum(x * x);
#endif
};

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::grad(loss)(x); }
