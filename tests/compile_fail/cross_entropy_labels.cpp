// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy: the labels must be class numbers of type int32 or int64
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using label = float;
#else
using label = std::int64_t;
#endif

auto f(const tn::tensor<float, tn::shape<8, 10>>& logits, const tn::tensor<label, tn::shape<8>>& labels) { return cross_entropy(logits, labels); }
