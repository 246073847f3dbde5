// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vmap: the arguments have different extents along their mapped axes: one that all samples share is tn::unmapped, as in vmap<tn::unmapped, 0>.f.
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto residual = [](auto p, auto x, auto y) { return p(0) * exp(p(1) * x) - y; };
#ifdef TENURE_MISUSE
constexpr auto residuals = tn::vmap(residual);
#else
constexpr auto residuals = tn::vmap<tn::unmapped, 0, 0>(residual);
#endif
auto fit(tn::tensor<double, tn::shape<2>>& p, const tn::tensor<double, tn::shape<9>>& x, const tn::tensor<double, tn::shape<9>>& y) { return tn::least_squares(residuals)(p, x, y); }
