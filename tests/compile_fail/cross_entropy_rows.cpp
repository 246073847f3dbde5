// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy: needs one label for each row of logits, whose last axis is the classes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using one_hot = tn::tensor<std::int64_t, tn::shape<8, 10>>;
#else
using one_hot = tn::tensor<std::int64_t, tn::shape<8>>;
#endif

auto f(const tn::tensor<float, tn::shape<8, 10>>& logits, const one_hot& labels) { return cross_entropy(logits, labels); }
