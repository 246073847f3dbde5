// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fori_loop: the number of iterations is no integer
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using count = double;
#else
using count = std::int64_t;
#endif

constexpr auto f = tn::compile([](auto n, auto x) { return tn::fori_loop(n, [](auto, auto c) { return c * 2.0; }, x); });

auto g(count n, const tn::tensor<double, tn::shape<3>>& x) { return f(n, x); }
