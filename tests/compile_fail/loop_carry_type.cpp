// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: the function returns a carry of another element type, shape or tree than it takes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto scaled = [](auto i, auto c) { return tn::cast<double>(c * tn::cast<float>(i)); };
#else
constexpr auto scaled = [](auto i, auto c) { return c * tn::cast<float>(i); };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::fori_loop(4, scaled, x); });

auto g(const tn::tensor<float, tn::shape<3>>& x) { return f(x); }
