// SPDX-License-Identifier: BSL-1.0
// expect: tenure: norm: the power must be at least 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int power = 0;
#else
constexpr int power = 1;
#endif

auto f(const tn::tensor<float, tn::shape<3>>& x) { return tn::eval(tn::norm<power>(x)); }
