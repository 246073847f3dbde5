// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function: a parameter block has a run-time extent or no element: Ceres' SizedCostFunction has its sizes as numbers
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };

#ifdef TENURE_MISUSE
auto f(double y) { return tn::cost_function<tn::shape<tn::dyn>>(error, y); }
#else
auto f(double y) { return tn::cost_function<tn::shape<2>>(error, y); }
#endif
