// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: no argument is traced, so the call runs at once, and its functions capture nothing: in a trace begin with tn::full_like
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto start = [](auto) { return 1.0; };
#else
constexpr auto start = [](auto x) { return tn::sum(x); };
#endif

constexpr auto f = tn::compile([](auto x) { return x * tn::fori_loop(3, [=](auto, auto c) { return c + tn::sum(x); }, start(x)); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
