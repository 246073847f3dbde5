// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fori_loop: the number of turns is no integer
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto turns = 3.0;
#else
constexpr auto turns = 3;
#endif

constexpr auto f = tn::compile([](auto x) { return tn::fori_loop(turns, [](auto, auto c) { return c * 2.0; }, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
