// SPDX-License-Identifier: BSL-1.0
// expect: tenure: windows: does not fit its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int size = 3;
#else
constexpr int size = 2;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::windows<0, size>(x)); }
