// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fori_loop: it begins at 0 and takes the number of iterations: fori_loop.n, f, init.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto iteration = [](auto i, auto h) { return tanh(h) + i; };

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::fori_loop(0, 10, iteration, x);
#else
  return tn::fori_loop(10, iteration, x);
#endif
}
