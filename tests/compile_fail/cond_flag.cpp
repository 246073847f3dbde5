// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cond: the flag is one bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using flag = std::int64_t;
#else
using flag = bool;
#endif

constexpr auto f = tn::compile([](auto flag, auto x) { return tn::cond(flag, [](auto x) { return x * 2.0; }, [](auto x) { return -x; }, x); });

auto g(flag which, const tn::tensor<double, tn::shape<3>>& x) { return f(which, x); }
