// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a result is a number or another object that was not computed from the arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto start = [](auto) { return 1.0; };
#else
constexpr auto start = [](auto x) { return tn::sum(x); };
#endif

constexpr auto goes_on = [](auto c) { return c < 9.0; };
constexpr auto f = tn::compile([](auto x) { return tn::while_loop(goes_on, [](auto c) { return c * 2.0; }, start(x)); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
