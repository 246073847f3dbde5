// SPDX-License-Identifier: BSL-1.0
// expect: tenure: any: an axis is named twice
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto both = tn::axes<0, -2>;
#else
constexpr auto both = tn::axes<0, -1>;
#endif

auto f(const tn::tensor<bool, tn::shape<2, 3>>& x) { return any(x, both); }
