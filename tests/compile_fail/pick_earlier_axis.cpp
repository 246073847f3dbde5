// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pick: needs one index for each row of the last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<std::int64_t, tn::shape<3, 3>>;
#else
using rows = tn::tensor<std::int64_t, tn::shape<2, 3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3, 4>>& x, const rows& i) { return tn::eval(tn::pick(x, i)); }
