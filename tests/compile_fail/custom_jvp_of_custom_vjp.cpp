// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: no forward mode through custom_vjp; custom_jvp has both modes
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto square = [](auto x) { return x * x; };
#ifdef TENURE_MISUSE
constexpr auto inner = tn::custom_vjp(square, [](auto x) { return std::tuple{x * x, x}; }, [](auto x, auto g) { return 2.0 * x * g; });
#else
constexpr auto inner = tn::custom_jvp(square, [](auto x, auto dx) { return std::tuple{x * x, 2.0 * x * dx}; });
#endif
constexpr auto outer = tn::custom_jvp([](auto x) { return inner(x); }, [](auto x, auto dx) { return tn::jvp(inner)(x, dx); });
constexpr auto slope = tn::grad([](auto x) { return sum(outer(x)); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return slope(x); }
