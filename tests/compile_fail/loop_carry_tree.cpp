// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: the function returns a carry of another element type, shape or tree than it takes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto step = [](auto c) { return std::tuple{c * 2.0, c}; };
#else
constexpr auto step = [](auto c) { return c * 2.0; };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, step, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
