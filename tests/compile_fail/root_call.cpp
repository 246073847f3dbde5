// SPDX-License-Identifier: BSL-1.0
// expect: tenure: root: it takes two functions and gives a function: write root.residual, solver..x., and begin with the first guess in the solver
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto residual = [](auto z, auto a) { return z * z - a; };
constexpr auto solver = [](auto a) { return sqrt(a); };

auto f(const tn::tensor<double, tn::shape<>>& a) {
#ifdef TENURE_MISUSE
  return tn::root(residual, solver, a);
#else
  return tn::root(residual, solver)(a);
#endif
}
