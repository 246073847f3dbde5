// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: forward does not take the arguments of the function
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto forward = [](auto x) { return std::tuple{x * x, std::tuple{x, x}}; };
#else
constexpr auto forward = [](auto x, auto y) { return std::tuple{x * y, std::tuple{x, y}}; };
#endif
constexpr auto f = tn::custom_vjp([](auto x, auto y) { return x * y; }, forward, [](auto kept, auto g) { return std::tuple{g * std::get<1>(kept), g * std::get<0>(kept)}; });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, x); }
