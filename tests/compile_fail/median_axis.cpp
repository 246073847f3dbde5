// SPDX-License-Identifier: BSL-1.0
// expect: tenure: median: the axis needs a static extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<tn::dyn, 3>>;
#else
using rows = tn::tensor<float, tn::shape<4, 3>>;
#endif

auto f(const rows& x) { return tn::eval(median(x, tn::axis<0>)); }
