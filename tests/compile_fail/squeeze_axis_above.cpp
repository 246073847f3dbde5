// SPDX-License-Identifier: BSL-1.0
// expect: tenure: squeeze: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int at = 3;
#else
constexpr int at = 2;
#endif

auto f(const tn::tensor<float, tn::shape<1, 2, 1>>& y) { return tn::eval(tn::squeeze<at>(y)); }
