// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dynamic_slice, dynamic_update: an extent of the block is not known, or larger than its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using lengths = tn::shape<5>;
#else
using lengths = tn::shape<3>;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tn::dynamic_slice(x, 0, lengths{}); }
