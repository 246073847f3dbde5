// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dynamic_update: the update has another element type than the tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using block = tn::tensor<float, tn::shape<2>>;
#else
using block = tn::tensor<double, tn::shape<2>>;
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x, const block& y) { return tn::dynamic_update(x, y, 1); }
