// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: there is nothing to scan: fori_loop takes a number of iterations
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return std::get<0>(tn::scan([](auto c, auto) { return std::tuple{c * 2.0, tn::nothing}; }, x, tn::nothing)); });
#else
constexpr auto f = tn::compile([](auto x) { return tn::fori_loop(3, [](auto, auto c) { return c * 2.0; }, x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
