// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: the arguments have different extents along their mapped axes: one that all samples share is tn::unmapped, as in vmap<tn::unmapped, 0>.f.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using weights = tn::tensor<double, tn::shape<5, 3>>;
#else
using weights = tn::tensor<double, tn::shape<4, 3>>;
#endif

auto g(const tn::tensor<double, tn::shape<4, 3>>& x, const weights& w) { return tn::vmap([](auto a, auto b) { return a * b; })(x, w); }
