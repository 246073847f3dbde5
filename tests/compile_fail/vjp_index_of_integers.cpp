// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: a chosen argument holds integers or bool, which have no gradient
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x, auto labels) { return gather<0>(x, labels); };

#ifdef TENURE_MISUSE
constexpr auto pull = tn::vjp<1>(f);
#else
constexpr auto pull = tn::vjp<0>(f);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<int, tn::shape<3>>& labels) { return pull(x, labels, x); }
