// SPDX-License-Identifier: BSL-1.0
// expect: tenure: categorical: the shape has a run-time extent: categorical.key, logits. has that of the logits
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::shape<tn::dyn>;
#else
using rows = tn::shape<8>;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key, const tn::tensor<float, tn::shape<3>>& logits) { return tn::eval(tn::categorical(rows{}, key, logits)); }
