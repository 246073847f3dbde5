// SPDX-License-Identifier: BSL-1.0
// expect: tenure: root: it takes two functions and gives a function: write root.residual, solver..x., and begin with the first guess in the solver
#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr auto square_root = tn::compile([](auto a) {
  const auto residual = [](auto z, auto a) { return z * z - a; };
#ifdef TENURE_MISUSE
  return tn::root(residual)(a);
#else
  return tn::root(residual, [](auto a) { return sqrt(a); })(a);
#endif
});

auto f(const tn::tensor<double, tn::shape<>>& a) { return square_root(a); }
