// SPDX-License-Identifier: BSL-1.0
// expect: tenure: layer_norm: an axis is named twice
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto both = tn::axes<0, -2>;
#else
constexpr auto both = tn::axes<0, -1>;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& x) { return tn::eval(layer_norm(x, both)); }
