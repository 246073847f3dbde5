// SPDX-License-Identifier: BSL-1.0
// expect: tenure: unsqueeze: the axis lies outside the result's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int at = 3;
#else
constexpr int at = 2;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::unsqueeze<at>(x)); }
