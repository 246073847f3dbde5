// SPDX-License-Identifier: BSL-1.0
// expect: tenure: index: indices must be int32 or int64
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = float;
#else
using element = std::int64_t;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x, const tn::tensor<element, tn::shape<2>>& i) { return gather(x, i); }
