// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: traced numbers in braces: in a trace write tn::stack\(a, b\), and tn::block<2, 2>\(a, b, c, d\) for a matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto g = [](auto x) {
#ifdef TENURE_MISUSE
  return tn::tensor{x(0), x(1)};
#else
  return tn::stack(x(0), x(1));
#endif
};

auto f(const tn::tensor<float, tn::shape<3>>& x) { return tn::compile(g)(x); }
