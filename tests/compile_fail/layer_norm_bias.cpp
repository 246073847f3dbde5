// SPDX-License-Identifier: BSL-1.0
// expect: tenure: layer_norm: the bias has other extents than the gain
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using shift = tn::tensor<float, tn::shape<4>>;
#else
using shift = tn::tensor<float, tn::shape<3, 4>>;
#endif
auto f(const tn::tensor<float, tn::shape<2, 3, 4>>& x, const tn::tensor<float, tn::shape<3, 4>>& gain, const shift& bias) { return tn::eval(layer_norm(x, gain, bias)); }
