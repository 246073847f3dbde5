// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: the function takes the carry and a slice: ...auto carry, auto x. . ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto step = [](auto c) { return std::tuple{c * 2, c}; };
#else
constexpr auto step = [](auto c, auto x) { return std::tuple{c * 2 + x, c}; };
#endif

auto f(const tn::tensor<double, tn::shape<>>& c, const tn::tensor<double, tn::shape<3>>& xs) { return tn::scan(step, c, xs); }
