// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dynamic_slice, dynamic_update: an extent of the block is not known, or larger than its axis
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using block = tn::tensor<double, tn::shape<tn::dyn>>;
#else
using block = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x, const block& y) { return tn::dynamic_update(x, y, 0); }
