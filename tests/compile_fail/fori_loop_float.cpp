// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fori_loop: the number of iterations is no integer
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto trip_count = 3.0;
#else
constexpr auto trip_count = 3;
#endif

constexpr auto f = tn::compile([](auto x) { return tn::fori_loop(trip_count, [](auto, auto c) { return c * 2.0; }, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
