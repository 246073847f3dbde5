// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cond: the flag is one bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto is_positive = [](auto x) { return x > 0.0; };
#else
constexpr auto is_positive = [](auto x) { return tn::sum(x) > 0.0; };
#endif

constexpr auto f = tn::compile([](auto x) { return tn::cond(is_positive(x), [](auto x) { return x * 2.0; }, [](auto x) { return -x; }, x); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
