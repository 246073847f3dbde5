// SPDX-License-Identifier: BSL-1.0
// expect: tenure: squeeze: the axis has more than one element
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<2, 3>>;
#else
using rows = tn::tensor<float, tn::shape<2, 1>>;
#endif

auto f(const rows& x) { return x.squeeze<1>(); }
