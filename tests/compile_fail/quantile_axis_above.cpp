// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantile: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int at = 2;
#else
constexpr int at = 1;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(quantile(x, 0.25, tn::axis<at>)); }
