// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_vjp: forward returns .y, residuals.: std::tuple.y, residuals., and tn::nothing as residuals if there are none
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto forward = [](auto x) { return x; };
#else
constexpr auto forward = [](auto x) { return std::tuple{x, tn::nothing}; };
#endif
constexpr auto clipped = tn::custom_vjp([](auto x) { return x; }, forward, [](auto, auto g) { return tn::minimum(g, 1.0); });

auto f(const tn::tensor<double, tn::shape<3>>& x) { return clipped(x); }
