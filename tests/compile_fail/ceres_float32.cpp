// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function, residual_blocks: residuals of Ceres are float64: tn::cast<double>\(r\)
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto error = [](auto x, auto y) { return tn::cast<float>(x) - y; };
#else
constexpr auto error = [](auto x, auto y) { return x - y; };
#endif

auto f(float y) { return tn::cost_function<tn::shape<3>>(error, y); }
