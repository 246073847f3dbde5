// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mse: prediction and target have different shapes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<float, tn::shape<1, 3>>;
#else
using target = tn::tensor<float, tn::shape<2, 3>>;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const target& y) { return tn::eval(mse(x, y)); }
