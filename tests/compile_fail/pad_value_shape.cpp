// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pad: the value is not a number or a scalar
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using border = tn::tensor<float, tn::shape<1>>;
#else
using border = tn::tensor<float, tn::shape<>>;
#endif

auto f(const tn::tensor<float, tn::shape<4>>& x, const border& value) { return tn::eval(tn::pad<0, 1>(x, value)); }
