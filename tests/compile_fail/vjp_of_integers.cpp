// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: the function returns integers or bool, which have no gradient
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto pull = tn::vjp([](auto x) { return x > 0; });
#else
constexpr auto pull = tn::vjp([](auto x) { return x * x; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return pull(x, x); }
