// SPDX-License-Identifier: BSL-1.0
// expect: tenure: take_along: indices and operand have different ranks
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using indices = tn::tensor<std::int64_t, tn::shape<4>>;
#else
using indices = tn::tensor<std::int64_t, tn::shape<1, 4>>;
#endif

auto f(const tn::tensor<float, tn::shape<1, 3>>& x, const indices& i) { return tn::eval(tn::take_along<1>(x, i)); }
