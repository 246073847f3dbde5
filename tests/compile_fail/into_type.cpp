// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target has another element type than its result
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

#ifdef TENURE_MISUSE
using element = float;
#else
using element = double;
#endif

void f(tn::tensor<element, tn::shape<3>>& y, const tn::tensor<double, tn::shape<3>>& x) { twice.into(y)(x); }
