// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: the function captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
auto g(vector& p, const vector& y) {
#ifdef TENURE_MISUSE
  return tn::least_squares([&](auto a) { return exp(a) - y; })(p);
#else
  return tn::least_squares([](auto a, auto b) { return exp(a) - b; })(p, y);
#endif
}
