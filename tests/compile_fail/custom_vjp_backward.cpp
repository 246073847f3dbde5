// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: backward does not take the residuals, then the cotangent of y
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto backward = [](auto g) { return g; };
#else
constexpr auto backward = [](auto, auto g) { return g; };
#endif
constexpr auto f = tn::custom_vjp([](auto x) { return x; }, [](auto x) { return std::tuple{x, tn::nothing}; }, backward);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
