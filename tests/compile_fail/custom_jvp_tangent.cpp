// SPDX-License-Identifier: BSL-1.0
// expect: tenure: custom_jvp: the rule returns y or a tangent of another element type, shape or tree than the function
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto rule = [](auto x, auto t) { return std::tuple{x * x, tn::cast<float>(2.0 * x * t)}; };
#else
constexpr auto rule = [](auto x, auto t) { return std::tuple{x * x, 2.0 * x * t}; };
#endif
constexpr auto f = tn::custom_jvp([](auto x) { return x * x; }, rule);

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
