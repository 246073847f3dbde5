// SPDX-License-Identifier: BSL-1.0
// expect: tenure: permute: each axis must be named exactly once
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int last = 0;
#else
constexpr int last = 1;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& x) { return x.permute<0, last>(); }
