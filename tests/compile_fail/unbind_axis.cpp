// SPDX-License-Identifier: BSL-1.0
// expect: tenure: split, chunk, unbind: the axis needs a static extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<tn::dyn, 2>>;
#else
using rows = tn::tensor<float, tn::shape<3, 2>>;
#endif

auto f(const rows& x) { return tn::unbind(x); }
