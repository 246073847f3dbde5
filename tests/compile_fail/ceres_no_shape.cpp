// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function: the shapes of the parameter blocks are missing: cost_function<tn::shape<9>, tn::shape<3>>\(f, data...\)
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };

#ifdef TENURE_MISUSE
auto f(double y) { return tn::cost_function(error, y); }
#else
auto f(double y) { return tn::cost_function<tn::shape<2>>(error, y); }
#endif
