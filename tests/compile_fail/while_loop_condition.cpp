// SPDX-License-Identifier: BSL-1.0
// expect: tenure: while_loop: the condition takes one argument, the carry: ...auto carry. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto goes_on = [](auto x, auto n) { return tn::sum(x) < 9.0 && n < 5; };
#else
constexpr auto goes_on = [](auto carry) { return tn::sum(std::get<0>(carry)) < 9.0 && std::get<1>(carry) < 5; };
#endif

constexpr auto iteration = [](auto carry) { return std::tuple{std::get<0>(carry) * 2.0, std::get<1>(carry) + 1}; };

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::while_loop(goes_on, iteration, std::tuple{x.view(), 0}); }
