// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: forward returns y of another element type, shape or tree than the function
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto forward = [](auto x) { return std::tuple{sum(x), x}; };
#else
constexpr auto forward = [](auto x) { return std::tuple{x * x, x}; };
#endif
constexpr auto f = tn::custom_vjp([](auto x) { return x * x; }, forward, [](auto x, auto g) { return 2.0 * g * x; });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
