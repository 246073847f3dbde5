// SPDX-License-Identifier: BSL-1.0
// expect: tenure: rms_norm: the gain does not have the extents of the last axes of x
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::tensor<float, tn::shape<1>>;
#else
using weights = tn::tensor<float, tn::shape<3>>;
#endif
auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const weights& gain) { return tn::eval(rms_norm(x, gain)); }
