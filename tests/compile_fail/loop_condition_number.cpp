// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: a condition is one traced bool, as x < 3 gives for a number x
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto goes_on = [](auto c) { return 9.0 - tn::sum(c); };
#else
constexpr auto goes_on = [](auto c) { return tn::sum(c) < 9.0; };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::while_loop(goes_on, [](auto c) { return c * 2.0; }, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
