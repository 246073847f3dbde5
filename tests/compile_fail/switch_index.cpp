// SPDX-License-Identifier: BSL-1.0
// expect: tenure: switch_case: the index is one integer
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using position = double;
#else
using position = std::int64_t;
#endif

constexpr auto f = tn::compile([](auto i, auto x) { return tn::switch_case(i, [](auto x) { return x * 2.0; }, [](auto x) { return -x; }, x); });

auto g(position which, const tn::tensor<double, tn::shape<3>>& x) { return f(which, x); }
