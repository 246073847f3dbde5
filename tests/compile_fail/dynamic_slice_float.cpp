// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dynamic_slice, dynamic_update: a start is one integer
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto start = 1.0;
#else
constexpr auto start = 1;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::dynamic_slice(x, start, tn::shape<2>{}); }
