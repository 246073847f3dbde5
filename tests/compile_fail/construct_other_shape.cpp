// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the expression has another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<double, tn::shape<3>>;
#else
using target = tn::tensor<double, tn::shape<2>>;
#endif

target f(const tn::tensor<double, tn::shape<2>>& y) { return y * 2; }
