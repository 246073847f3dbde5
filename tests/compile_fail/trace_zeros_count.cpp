// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: one integer is needed for each dyn and each name of the shape
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using made = tn::shape<tn::dyn, tn::dyn>;
#else
using made = tn::shape<tn::dyn, 2>;
#endif
constexpr auto g = [](auto x) { return tn::zeros<double>(made{}, tn::extent<0>(x)); };

auto f(const tn::tensor<double, tn::shape<tn::dyn>>& x) { return tn::compile(g)(x); }
