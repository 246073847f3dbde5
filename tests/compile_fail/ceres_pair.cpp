// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function, residual_blocks: the function returns one vector of residuals: tn::stack\(a, b\) of numbers, tn::concat<0>\(a, b\) of vectors
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto error = [](auto x) { return std::pair{x[0] - 1.0, x[1] * x[0]}; };
#else
constexpr auto error = [](auto x) { return tn::stack(x[0] - 1.0, x[1] * x[0]); };
#endif

auto f() { return tn::cost_function<tn::shape<2>>(error); }
