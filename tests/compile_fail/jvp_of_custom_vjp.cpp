// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: no forward mode through custom_vjp; custom_jvp has both modes
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::tuple{x * x, x}; }, [](auto x, auto g) { return 2.0 * g * x; });
#else
constexpr auto f = tn::custom_jvp([](auto x) { return x * x; }, [](auto x, auto t) { return std::tuple{x * x, 2.0 * x * t}; });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::jvp(f)(x, x); }
