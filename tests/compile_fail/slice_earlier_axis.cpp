// SPDX-License-Identifier: BSL-1.0
// expect: tenure: slice: reaches outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int length = 3;
#else
constexpr int length = 2;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::slice<0, 0, length>(x)); }
