// SPDX-License-Identifier: BSL-1.0
// expect: tenure: roll: the axis needs a static extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using rows = tn::tensor<float, tn::shape<4>>;
#endif

auto f(const rows& x) { return tn::eval(tn::roll<1>(x)); }
