// SPDX-License-Identifier: BSL-1.0
// expect: tenure: minimize: the method is tn::optim::lbfgs, and the model comes after it: minimize.f, lbfgs....model, x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) { return sum(square(x)); };

auto g(tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::minimize(f, x);
#else
  return tn::minimize(f, tn::optim::lbfgs{})(x);
#endif
}
