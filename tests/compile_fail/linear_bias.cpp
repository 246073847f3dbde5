// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear: the extents of x w\^T and of the bias differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using bias = tn::tensor<float, tn::shape<4>>;
#else
using bias = tn::tensor<float, tn::shape<5>>;
#endif

auto f(const tn::tensor<float, tn::shape<3, 4>>& x, const tn::tensor<float, tn::shape<5, 4>>& w, const bias& b) { return tn::eval(linear(x, w, b)); }
