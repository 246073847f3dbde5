// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function, residual_blocks: the function does not take one argument for each parameter block, and then one for each of the data
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto camera, auto point, auto seen) { return tn::slice<0, 0, 2>(camera) * point[2] - seen; };

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<2>>& seen) { return tn::cost_function<tn::shape<9>>(error, seen); }
#else
auto f(const tn::tensor<double, tn::shape<2>>& seen) { return tn::cost_function<tn::shape<9>, tn::shape<3>>(error, seen); }
#endif
