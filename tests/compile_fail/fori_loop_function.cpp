// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fori_loop: the function takes the number of the iteration and the carry: ...auto i, auto carry. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto iteration = [](auto c) { return c * 2; };
#else
constexpr auto iteration = [](auto, auto c) { return c * 2; };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::fori_loop(4, iteration, x); }
