// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sum: an axis lies outside the tensor's rank
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int last = 1;
#else
constexpr int last = 0;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::compile([](auto a) { return sum(a, tn::axis<last>); })(x); }
