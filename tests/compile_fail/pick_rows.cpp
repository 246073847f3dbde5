// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pick: needs one index for each row of the last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<int, tn::shape<4, 1>>;
#else
using rows = tn::tensor<int, tn::shape<4>>;
#endif

auto f(const tn::tensor<float, tn::shape<4, 3>>& x, const rows& i) { return tn::eval(pick(x, i)); }
