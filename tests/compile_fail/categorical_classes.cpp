// SPDX-License-Identifier: BSL-1.0
// expect: tenure: categorical: the logits have no axis: the classes lie along their last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using scores = tn::shape<>;
#else
using scores = tn::shape<3>;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key, const tn::tensor<float, scores>& logits) { return tn::eval(tn::categorical(key, logits)); }
