// SPDX-License-Identifier: BSL-1.0
// expect: tenure: squeeze: the extent of the axis is not 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<1, 3>>;
#else
using rows = tn::tensor<float, tn::shape<3, 1>>;
#endif

auto f(const rows& x) { return tn::eval(tn::squeeze<-1>(x)); }
