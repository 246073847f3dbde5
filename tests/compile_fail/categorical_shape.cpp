// SPDX-License-Identifier: BSL-1.0
// expect: tenure: categorical: the axes of the logits before the last one do not broadcast to the shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using drawn = tn::shape<5>;
#else
using drawn = tn::shape<5, 2>;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key, const tn::tensor<float, tn::shape<2, 3>>& logits) { return tn::eval(tn::categorical(drawn{}, key, logits)); }
