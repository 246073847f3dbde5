// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: backward does not take the arguments of the function, then the cotangent of y
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto backward = [](auto x, auto g) { return std::tuple{g * x, g * x}; };
#else
constexpr auto backward = [](auto x, auto y, auto g) { return std::tuple{g * y, g * x}; };
#endif
constexpr auto f = tn::custom_vjp([](auto x, auto y) { return x * y; }, backward);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, x); }
