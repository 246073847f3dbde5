// SPDX-License-Identifier: BSL-1.0
// expect: tenure: layer_norm: the gain does not have the extents of the last axes of x
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::tensor<float, tn::shape<5, 4>>;
#else
using weights = tn::tensor<float, tn::shape<3, 4>>;
#endif
auto f(const tn::tensor<float, tn::shape<2, 3, 4>>& x, const weights& gain, const weights& bias) { return tn::eval(layer_norm(x, gain, bias)); }
