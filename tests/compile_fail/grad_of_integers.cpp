// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: the function returns integers or bool
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x) {
#ifdef TENURE_MISUSE
  return sum(x > 0);
#else
  return sum(relu(x));
#endif
};

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::grad(loss)(x); }
