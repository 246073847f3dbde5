// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: needs the arguments of the function, then the cotangent of its result
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto pull = tn::vjp([](auto x) { return x * x; });

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<3>>& x) { return pull(x); }
#else
auto f(const tn::tensor<double, tn::shape<3>>& x) { return pull(x, x); }
#endif
