// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy: needs one label for each row of logits, whose last axis is the classes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using labels = tn::tensor<std::int32_t, tn::shape<1>>;
#else
using labels = tn::tensor<std::int32_t, tn::shape<64>>;
#endif

auto f(const tn::tensor<float, tn::shape<64, 3>>& x, const labels& y) { return tn::eval(cross_entropy(x, y)); }
