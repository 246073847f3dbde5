// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: backward returns a std::tuple with the cotangent of each argument, of its element types, shapes and tree
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto backward = [](auto kept, auto g) { return std::tuple{g * std::get<1>(kept), g}; };
#else
constexpr auto backward = [](auto kept, auto g) { return std::tuple{g * std::get<1>(kept), g * std::get<0>(kept)}; };
#endif
constexpr auto f = tn::custom_vjp([](auto x, auto y) { return sum(x * y); }, [](auto x, auto y) { return std::tuple{sum(x * y), std::tuple{x, y}}; }, backward);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, x); }
