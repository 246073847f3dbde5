// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: the arguments hold integers or bool, which have no gradient
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto pull = tn::vjp([](auto x) { return x * 0.5; });

#ifdef TENURE_MISUSE
using element = int;
#else
using element = float;
#endif

auto f(const tn::tensor<element, tn::shape<3>>& x, const tn::tensor<float, tn::shape<3>>& c) { return pull(x, c); }
