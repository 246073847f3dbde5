// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul_: a view of a tracked tensor is written only inside no_grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::variable<double, tn::shape<2, 3>>& x) {
  auto y = x.clone();
#ifdef TENURE_MISUSE
  return y.at(0).mul_(2);
#else
  return std::move(y).at(0).mul_(2);
#endif
}
