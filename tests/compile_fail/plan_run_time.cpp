// SPDX-License-Identifier: BSL-1.0
// expect: tenure: plan: the cost of a call with run-time extents is known only when it runs
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<tn::dyn>>;
#else
using vector = tn::tensor<double, tn::shape<8>>;
#endif

constexpr auto bytes(const vector& x) { return decltype(twice.plan(x))::bytes(); }
