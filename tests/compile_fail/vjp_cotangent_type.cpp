// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: the cotangent has other element types or shapes than the result
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto pull = tn::vjp([](auto x) { return x * x; });

#ifdef TENURE_MISUSE
using element = float;
#else
using element = double;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<element, tn::shape<3>>& c) { return pull(x, c); }
