// SPDX-License-Identifier: BSL-1.0
// expect: tenure: huber: prediction and target have different shapes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<float, tn::shape<9, 1>>;
#else
using target = tn::tensor<float, tn::shape<8, 1>>;
#endif

auto f(const tn::tensor<float, tn::shape<8, 1>>& x, const target& y) { return huber(x, y); }
