// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear: x needs an axis of the inputs, and w two axes: \(out, in\)
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::tensor<float, tn::shape<4>>;
#else
using weights = tn::tensor<float, tn::shape<5, 4>>;
#endif

auto f(const tn::tensor<float, tn::shape<3, 4>>& x, const weights& w) { return tn::eval(linear(x, w)); }
