// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: the function returns a carry of another element type, shape or tree than it takes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto step = [](auto c, auto x) { return std::tuple{tn::sum(c) + x, c}; };
#else
constexpr auto step = [](auto c, auto x) { return std::tuple{c + x, c}; };
#endif

constexpr auto f = tn::compile([](auto xs) { return tn::scan(step, xs, xs); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
