// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: an argument is chosen twice
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x, auto y) { return x * y; };

#ifdef TENURE_MISUSE
constexpr auto pull = tn::vjp<1, 1>(f);
#else
constexpr auto pull = tn::vjp<1, 0>(f);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return pull(x, x, x); }
