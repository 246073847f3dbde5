// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target has another extent than its result
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<4>>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

void f(vector& y, const tn::tensor<double, tn::shape<3>>& x) { twice.into(y)(x); }
