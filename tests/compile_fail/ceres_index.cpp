// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
// lines: 22
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto error = [](auto x, auto y) { return x[2] * x[0] - y; };
#else
constexpr auto error = [](auto x, auto y) { return x[1] * x[0] - y; };
#endif

auto f(double y) { return tn::cost_function<tn::shape<2>>(error, y); }
