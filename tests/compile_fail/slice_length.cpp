// SPDX-License-Identifier: BSL-1.0
// expect: tenure: slice: needs a length of at least 0 and a step that is not 0
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int length = -1;
#else
constexpr int length = 1;
#endif

auto f(const tn::tensor<float, tn::shape<5>>& x) { return tn::eval(tn::slice<0, 2, length>(x)); }
