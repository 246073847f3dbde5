// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: the function returns .carry, y.: std::tuple.carry, y., and tn::nothing as y if there is none
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto step = [](auto c, auto x) { return c + x; };
#else
constexpr auto step = [](auto c, auto x) { return std::tuple{c + x, tn::nothing}; };
#endif

constexpr auto f = tn::compile([](auto xs) { return std::get<0>(tn::scan(step, tn::sum(xs), xs)); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
