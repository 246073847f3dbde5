// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mean: an axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int first = -3;
#else
constexpr int first = -2;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& x) { return mean(x, tn::axis<first>); }
