// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target has another rank than its result
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto total = tn::compile([](auto x) { return sum(x); });

#ifdef TENURE_MISUSE
using number = tn::tensor<double, tn::shape<1>>;
#else
using number = tn::tensor<double, tn::shape<>>;
#endif

void f(number& y, const tn::tensor<double, tn::shape<3>>& x) { total.into(y)(x); }
