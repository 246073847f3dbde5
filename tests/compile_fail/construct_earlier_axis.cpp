// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the expression has another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using source = tn::tensor<float, tn::shape<5, 3>>;
#else
using source = tn::tensor<float, tn::shape<2, 3>>;
#endif

tn::tensor<float, tn::shape<2, 3>> f(const source& y) { return y * 2; }
