// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantile: the axis is empty
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<0, 3>>;
#else
using rows = tn::tensor<float, tn::shape<1, 3>>;
#endif

auto f(const rows& x) { return tn::eval(quantile(x, 0.25, tn::axis<0>)); }
