// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_jvp: the function returns integers or bool, so the rule returns zeros of their type as the tangent: std::tuple.y, tn::zeros_like.y..
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto rule = [](auto x, auto t) { return std::tuple{tn::argmax(x), sum(t)}; };
#else
constexpr auto rule = [](auto x, auto) { return std::tuple{tn::argmax(x), tn::zeros_like(tn::argmax(x))}; };
#endif
constexpr auto f = tn::custom_jvp([](auto x) { return tn::argmax(x); }, rule);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
