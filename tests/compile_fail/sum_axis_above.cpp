// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sum: an axis lies outside the tensor's rank
// P59 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int last = 2;
#else
constexpr int last = 1;
#endif

auto f(const tn::tensor<double, tn::shape<2, 3>>& x) { return sum(x, tn::axis<last>); }
