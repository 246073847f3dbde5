// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function: the data have a run-time extent: a cost function holds a copy of them, so their shapes are static: tn::from<tn::shape<2>>\(p\)
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };

#ifdef TENURE_MISUSE
auto f(const double* y) { return tn::cost_function<tn::shape<2>>(error, tn::from<tn::shape<tn::dyn>>(y, 2)); }
#else
auto f(const double* y) { return tn::cost_function<tn::shape<2>>(error, tn::from<tn::shape<2>>(y)); }
#endif
