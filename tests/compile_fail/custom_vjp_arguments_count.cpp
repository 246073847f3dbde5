// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: backward returns a std::tuple with the cotangent of each argument, of its element types, shapes and tree
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto backward = [](auto x, auto y, auto g) { return std::tuple{g * y, g * x, g}; };
#else
constexpr auto backward = [](auto x, auto y, auto g) { return std::tuple{g * y, g * x}; };
#endif
constexpr auto f = tn::custom_vjp([](auto x, auto y) { return x * y; }, backward);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, x); }
