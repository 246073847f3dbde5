// SPDX-License-Identifier: BSL-1.0
// expect: tenure: repeat: needs static extents and at most 4 axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<float, tn::shape<tn::dyn>>;
#else
using rows = tn::tensor<float, tn::shape<4>>;
#endif

auto f(const rows& x) { return tn::eval(tn::repeat<2>(x)); }
