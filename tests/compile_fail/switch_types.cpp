// SPDX-License-Identifier: BSL-1.0
// expect: tenure: switch_case: the functions return different element types, shapes or trees
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto last = [](auto x) { return tn::sum(x); };
#else
constexpr auto last = [](auto x) { return -x; };
#endif

constexpr auto f = tn::compile([](auto i, auto x) { return tn::switch_case(i, [](auto x) { return x * 2.0; }, [](auto x) { return x * x; }, last, x); });

auto g(std::int64_t which, const tn::tensor<double, tn::shape<3>>& x) { return f(which, x); }
