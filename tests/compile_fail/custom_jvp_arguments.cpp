// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_jvp: the rule does not take the arguments of the function, then a tangent for each
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto rule = [](auto x, auto t) { return std::tuple{x * x, t}; };
#else
constexpr auto rule = [](auto x, auto y, auto tx, auto ty) { return std::tuple{x * y, tx * y + x * ty}; };
#endif
constexpr auto f = tn::custom_jvp([](auto x, auto y) { return x * y; }, rule);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, x); }
