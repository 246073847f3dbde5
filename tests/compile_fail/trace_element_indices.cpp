// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator..: one index is needed for each axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto corner = tn::compile([](auto x) { return x(1); });
#else
constexpr auto corner = tn::compile([](auto x) { return x(1, 0); });
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& x) { return corner(x); }
