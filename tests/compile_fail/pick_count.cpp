// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pick: needs one index for each row of the last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using indices = tn::tensor<std::int32_t, tn::shape<2>>;
#else
using indices = tn::tensor<std::int32_t, tn::shape<64>>;
#endif

auto f(const tn::tensor<float, tn::shape<64, 3>>& x, const indices& i) { return tn::eval(pick(x, i)); }
